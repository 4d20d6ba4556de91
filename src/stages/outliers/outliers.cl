// Classifies outliers by kind: outliers.hpp. Each group processes one row.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define LEFT_RIGHT 2
#define RELIABLE 0
#define OCCLUDED 1
#define MISMATCHED 2

KERNEL(outliers)(IMAGE(const float, right), IMAGE(float, disparity), IMAGE(uchar, validity), IMAGE(uchar, kinds), float threshold) {
  const int y = group_id(0), width = WIDTH(disparity);
  for (int x = local_id(0); x < width; x += local_size(0)) PIXEL(kinds, x, y) = OCCLUDED;
  BARRIER();
  // Mark the pixels to which a right pixel corresponds.
  for (int x = local_id(0); x < width; x += local_size(0)) {
    const float met = (float)x + floor(PIXEL(right, x, y) + 0.5f);
    if (met >= 0.0f && met < (float)width) PIXEL(kinds, (int)met, y) = MISMATCHED;
  }
  BARRIER();
  for (int x = local_id(0); x < width; x += local_size(0)) {
    const float d = PIXEL(disparity, x, y), x_right = (float)x - floor(d + 0.5f);
    const int inside = x_right >= 0.0f && x_right < (float)width;
    if (inside && fabs(d - PIXEL(right, (int)x_right, y)) <= threshold) {
      PIXEL(kinds, x, y) = RELIABLE;
    } else if (d == d) {
      PIXEL(validity, x, y) = (uchar)(PIXEL(validity, x, y) | LEFT_RIGHT);
      PIXEL(disparity, x, y) = INVALID;
    }
  }
}
