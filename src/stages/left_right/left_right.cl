// Left-right check: left_right.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define LEFT_RIGHT 2

KERNEL(left_right)(IMAGE(const float, right), IMAGE(float, disparity), IMAGE(uchar, validity), float threshold, int same) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const float d = PIXEL(disparity, x, y);
  if (d != d) return;
  const float whole = same ? 0.0f : floor(d + 0.5f);
  if (fabs(whole) < 1e9f) {  // larger values lead outside the image
    const int x_right = x - (int)whole;
    if (x_right >= 0 && x_right < width && fabs(d - PIXEL(right, x_right, y)) <= threshold) return;
  }
  PIXEL(disparity, x, y) = INVALID;
  PIXEL(validity, x, y) |= LEFT_RIGHT;
}
