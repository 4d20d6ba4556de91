// Makes a disparity map and its validity consistent: device/consistent_validity.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define AMBIGUOUS 4
#define REASONS 63

KERNEL(consistent_validity)(IMAGE(float, disparity), IMAGE(uchar, validity)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const float d = PIXEL(disparity, x, y);
  const int reasons = PIXEL(validity, x, y) & REASONS;
  if (d - d == 0.0f && reasons == 0) return;  // the difference is NaN if d is NaN or infinite
  PIXEL(disparity, x, y) = INVALID;
  if (reasons == 0) PIXEL(validity, x, y) |= AMBIGUOUS;
}
