// A toy: adjacent_entry.cpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(adjacent)(ARRAY(const uchar, costs), ARRAY(ushort, sums), int width, int height, int disparities) {
  const int x = global_id(0), y = global_id(1), end = disparities - 1;
  if (x >= width || y >= height) return;
  const long pixel = ((long)y * width + x) * disparities;
  GLOBAL const uchar* cost = ELEMENTS(costs) + pixel;
  for (int k = 0; k <= end; ++k) {
    const int here = cost[k], beside = min((int)cost[max(k - 1, 0)], (int)cost[min(k + 1, end)]);
    ELEMENTS(sums)[pixel + k] = (ushort)(here + min(here, beside));
  }
}
