// Absolute differences and census: ad_census.hpp. A work-item for each cell of a row.
//
// instance any:
#include "device/gpu/vocabulary.h"

typedef struct {
  uchar colour[766];
  uchar census[66];
} Tables;

KERNEL(ad_census)(IMAGE(const uchar, left), IMAGE(const uchar, right), IMAGE(const ulong, left_census), IMAGE(const ulong, right_census),
                  ARRAY(uchar, costs), int channels, int disparities, int min_disparity, Tables tables) {
  LOCAL uchar colour[766];
  LOCAL uchar census[66];
  for (int i = local_id(0); i < 766; i += local_size(0)) colour[i] = tables.colour[i];
  for (int i = local_id(0); i < 66; i += local_size(0)) census[i] = tables.census[i];
  BARRIER();

  const int cell = global_id(0), y = global_id(1), width = WIDTH(left_census);
  if (cell >= width * disparities || y >= HEIGHT(left_census)) return;
  const int x = cell / disparities;
  const int x_right = clamp(x - min_disparity - cell % disparities, 0, width - 1);
  int differences = 0;
  for (int c = 0; c < 3; ++c) {
    const int channel = min(c, channels - 1);
    differences += abs((int)PIXEL(left, x * channels + channel, y) - (int)PIXEL(right, x_right * channels + channel, y));
  }
  const int hamming = (int)popcount(PIXEL(left_census, x, y) ^ PIXEL(right_census, x_right, y));
  ELEMENTS(costs)[(long)y * width * disparities + cell] = (uchar)(colour[differences] + census[hamming]);
}
