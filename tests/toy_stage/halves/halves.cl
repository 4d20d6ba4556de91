// A toy: halves_entry.cpp.
//
// instance u8: PIXEL_TYPE=uchar
// instance u16: PIXEL_TYPE=ushort
// instance f32: PIXEL_TYPE=float
#include "device/gpu/vocabulary.h"

#define MASKED 16

KERNEL(halve)(IMAGE(const PIXEL_TYPE, image), IMAGE(PIXEL_TYPE, half_image)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(half_image) || y >= HEIGHT(half_image)) return;
  PIXEL(half_image, x, y) = GIVEN(image) ? PIXEL(image, 2 * x, 2 * y) : (PIXEL_TYPE)255;
}

KERNEL(double_maps)(IMAGE(const float, half_disparity), IMAGE(const uchar, half_validity), IMAGE(const uchar, mask),
                    int least, int most, IMAGE(float, disparity), IMAGE(uchar, validity)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const int masked = GIVEN(mask) && PIXEL(mask, x, y) == 0;
  const float d = 2.0f * PIXEL(half_disparity, x / 2, y / 2);
  const float inside = d < (float)least ? (float)least : d > (float)most ? (float)most : d;
  PIXEL(disparity, x, y) = masked || d != d ? INVALID : inside;
  PIXEL(validity, x, y) = masked ? MASKED : PIXEL(half_validity, x / 2, y / 2);
}
