// Shiftable windows: shiftable.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/window_mean/window_mean.cl.h"

#define MOST_PIXELS 63

KERNEL(average)(ARRAY(const uchar, costs), ARRAY(ushort, averages), int width, int height, int disparities, int radius,
                int band) {
  LOCAL uint columns[MOST_COLUMNS * LANES];
  window_means(columns, ELEMENTS(costs), ELEMENTS(averages), width, height, disparities, radius, radius, band, 0);
}

// Computes minima along lines of `pixels` costs, which are `stride` apart. Along rows, a row has `lines` adjacent
// disparities; along columns, it has `lines` cells. Dimension 1 counts the rows, which are `pitch` apart. A work-item
// computes 2 radius + 1 pixels. Each of their windows consists of the last pixels before the middle and of the first
// pixels after it.
KERNEL(lower)(ARRAY(const ushort, averages), ARRAY(ushort, lowest), int lines, int rows, int pitch, int pixels, int stride,
              int radius) {
  LOCAL ushort before[MOST_PIXELS * LANES];
  const int lane = local_id(0), groups = (lines + LANES - 1) / LANES, window = 2 * radius + 1;
  const int line = group_id(0) % groups * LANES + lane, first = group_id(0) / groups * window;
  if (line >= lines || group_id(1) >= rows) return;
  const long start = (long)group_id(1) * pitch + line;
  GLOBAL const ushort* from = ELEMENTS(averages) + start;
  GLOBAL ushort* to = ELEMENTS(lowest) + start;
#define AVERAGE_AT(i) from[(long)clamp(i, 0, pixels - 1) * stride]
  int least = 65535;
  for (int j = window - 1; j >= 0; --j) {
    least = min(least, (int)AVERAGE_AT(first - radius + j));
    before[j * LANES + lane] = (ushort)least;
  }
  least = 65535;
  for (int j = 0; j < window && first + j < pixels; ++j) {
    if (j > 0) least = min(least, (int)AVERAGE_AT(first + radius + j));
    to[(long)(first + j) * stride] = (ushort)min(least, (int)before[j * LANES + lane]);
  }
}
