// A toy: smooth_entry.cpp.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0
// instance f32: PIXEL_TYPE=float IS_FLOAT=1
#include "device/gpu/vocabulary.h"

KERNEL(smooth)(IMAGE(const PIXEL_TYPE, image), IMAGE(PIXEL_TYPE, made), int channels) {
  const int i = global_id(0), y = global_id(1);
  if (i >= WIDTH(image) * channels || y >= HEIGHT(image)) return;
  const PIXEL_TYPE left = PIXEL(image, i < channels ? i : i - channels, y), here = PIXEL(image, i, y);
  const PIXEL_TYPE right = PIXEL(image, i >= (WIDTH(image) - 1) * channels ? i : i + channels, y);
#if IS_FLOAT
  PIXEL(made, i, y) = 0.25f * ((left + right) + 2.0f * here);
#else
  PIXEL(made, i, y) = (PIXEL_TYPE)((left + 2 * here + right + 2) / 4);
#endif
}
