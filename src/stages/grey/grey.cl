// Grey of a colour image, and its 8-bit form: grey.hpp.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0
// instance f32: PIXEL_TYPE=float IS_FLOAT=1
#include "device/gpu/vocabulary.h"

KERNEL(grey)(IMAGE(const PIXEL_TYPE, image), IMAGE(const uchar, mask), IMAGE(PIXEL_TYPE, grey), IMAGE(uchar, usable),
             int channels) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(grey) || y >= HEIGHT(grey)) return;
  GLOBAL const PIXEL_TYPE* pixel = &PIXEL(image, (long)x * channels, y);
  PIXEL_TYPE value = pixel[0];
#if IS_FLOAT
  if (channels == 3) {
    const float red_green = 0.299f * pixel[0] + 0.587f * pixel[1];
    value = red_green + 0.114f * pixel[2];
  }
  const int finite = fabs(value) <= 3.402823466e+38f;
  if (!finite) value = 0.0f;
#else
  if (channels == 3)
    value = (PIXEL_TYPE)((19595u * pixel[0] + 38470u * pixel[1] + 7471u * pixel[2] + 32768u) >> 16);
  const int finite = 1;
#endif
  PIXEL(grey, x, y) = value;
  if (GIVEN(usable)) PIXEL(usable, x, y) = finite && (!GIVEN(mask) || PIXEL(mask, x, y) != 0) ? 255 : 0;
}

KERNEL(grey8)(IMAGE(const PIXEL_TYPE, grey), IMAGE(uchar, grey8), int white) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(grey8) || y >= HEIGHT(grey8)) return;
  const PIXEL_TYPE value = PIXEL(grey, x, y);
#if IS_FLOAT
  PIXEL(grey8, x, y) = value > 0.0f ? (uchar)floor((value < 255.0f ? value : 255.0f) + 0.5f) : (uchar)0;
#else
  PIXEL(grey8, x, y) = (uchar)((min((int)value, white) * 255 + white / 2) / white);
#endif
}
