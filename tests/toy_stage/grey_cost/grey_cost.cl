// A toy: grey_cost_entry.cpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(grey_cost)(IMAGE(const uchar, reference), IMAGE(const uchar, other), ARRAY(uchar, costs), int disparities, int least) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(reference);
  if (x >= width || y >= HEIGHT(reference)) return;
  GLOBAL uchar* cost = ELEMENTS(costs) + ((long)y * width + x) * disparities;
  for (int k = 0; k < disparities; ++k)
    cost[k] = (uchar)abs((int)PIXEL(reference, x, y) - (int)PIXEL(other, clamp(x - least - k, 0, width - 1), y));
}
