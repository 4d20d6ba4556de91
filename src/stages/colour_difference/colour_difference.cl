// A volume of truncated colour differences: colour_difference.hpp. A work-item for each cell of a row.
//
// instance any:
#include "device/gpu/vocabulary.h"

FUNCTION int channel_difference(uint a, uint b, int shift) {
  return (int)abs((int)(a >> shift & 255u) - (int)(b >> shift & 255u));
}

KERNEL(costs)(IMAGE(const uint, left), IMAGE(const uint, right), ARRAY(uchar, costs), int disparities, int min_disparity,
              int truncation) {
  const int i = global_id(0), y = global_id(1), x = i / disparities, k = i % disparities;
  if (x >= WIDTH(left) || y >= HEIGHT(left)) return;
  const uint a = PIXEL(left, x, y), b = PIXEL(right, clamp(x - min_disparity - k, 0, WIDTH(right) - 1), y);
  const int sum = channel_difference(a, b, 0) + channel_difference(a, b, 8) + channel_difference(a, b, 16);
  ELEMENTS(costs)[(long)y * WIDTH(left) * disparities + i] = (uchar)min(sum, truncation);
}
