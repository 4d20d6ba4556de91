// A toy: lowest_entry.cpp.
//
// instance u8: COST=uchar NO_COST=256
// instance u16: COST=ushort NO_COST=65535
// instance f32: COST=float NO_COST=INFINITY
#include "device/gpu/vocabulary.h"

#define NO_CANDIDATE 1
#define MASKED 16

KERNEL(lowest)(ARRAY(const COST, costs), int disparities, int least, IMAGE(const uchar, mask), IMAGE(const uchar, other),
               IMAGE(float, disparity), IMAGE(uchar, validity)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  GLOBAL const COST* cost = ELEMENTS(costs) + ((long)y * width + x) * disparities;
  const int masked = GIVEN(mask) && PIXEL(mask, x, y) == 0;
  int best = -1;
  for (int k = 0; k < disparities && !masked; ++k) {
    const int at = x - least - k;
    if (at < 0 || at >= width || (GIVEN(other) && PIXEL(other, at, y) == 0)) continue;
    if (best < 0 ? (float)cost[k] < (float)NO_COST : cost[k] < cost[best]) best = k;
  }
  PIXEL(disparity, x, y) = best < 0 ? INVALID : (float)(least + best);
  PIXEL(validity, x, y) = masked ? MASKED : best < 0 ? NO_CANDIDATE : 0;
}
