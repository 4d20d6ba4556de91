// A toy: nearest.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define AMBIGUOUS 4

KERNEL(nearest)(IMAGE(float, disparity), IMAGE(uchar, validity), float least) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity) || !(PIXEL(disparity, x, y) < least)) return;
  PIXEL(disparity, x, y) = INVALID;
  PIXEL(validity, x, y) |= AMBIGUOUS;
}
