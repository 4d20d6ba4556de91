// Averages over a window: box.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/window_mean/window_mean.cl.h"

KERNEL(average)(ARRAY(const uchar, costs), ARRAY(ushort, averages), int width, int height, int disparities, int radius_x,
                int radius_y, int band) {
  LOCAL uint columns[MOST_COLUMNS * LANES];
  window_means(columns, ELEMENTS(costs), ELEMENTS(averages), width, height, disparities, radius_x, radius_y, band, 0);
}
