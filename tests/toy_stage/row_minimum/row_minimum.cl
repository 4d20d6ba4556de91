// A toy: row_minimum_entry.cpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(row_minimum)(ARRAY(const uchar, costs), ARRAY(uchar, lowest), int width, int height, int disparities) {
  const int x = global_id(0), y = global_id(1);
  if (x >= width || y >= height) return;
  GLOBAL const uchar* row = ELEMENTS(costs) + (long)y * width * disparities;
  GLOBAL const uchar* before = row + (long)max(x - 1, 0) * disparities;
  GLOBAL const uchar* after = row + (long)min(x + 1, width - 1) * disparities;
  for (int k = 0; k < disparities; ++k) {
    const int here = row[(long)x * disparities + k], beside = min((int)before[k], (int)after[k]);
    ELEMENTS(lowest)[((long)y * width + x) * disparities + k] = (uchar)min(here, beside);
  }
}
