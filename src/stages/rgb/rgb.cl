// Colours of both views in a common form: rgb.hpp.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0
// instance f32: PIXEL_TYPE=float IS_FLOAT=1
#include "device/gpu/vocabulary.h"

#if IS_FLOAT
FUNCTION int is_finite(float v) { return fabs(v) <= 3.402823466e+38f; }
FUNCTION uint in_8_bits(float v, uint white) {
  return v > 0.0f ? (uint)floor((v < 255.0f ? v : 255.0f) + 0.5f) : 0u;
}
#else
FUNCTION int is_finite(uint v) { return 1; }
FUNCTION uint in_8_bits(uint v, uint white) { return (min(v, white) * 255u + white / 2u) / white; }
#endif

KERNEL(words)(IMAGE(const PIXEL_TYPE, image), IMAGE(const uchar, mask), IMAGE(uint, words), IMAGE(uchar, usable),
              int channels, int white) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(words) || y >= HEIGHT(words)) return;
  GLOBAL const PIXEL_TYPE* pixel = &PIXEL(image, (long)x * channels, y);
  const PIXEL_TYPE red = pixel[0], green = pixel[channels / 2], blue = pixel[channels - 1];
  const int finite = is_finite(red) && is_finite(green) && is_finite(blue);
  uint word = 0;
  if (finite)
    word = in_8_bits(red, (uint)white) | in_8_bits(green, (uint)white) << 8 | in_8_bits(blue, (uint)white) << 16;
  PIXEL(words, x, y) = word;
  if (GIVEN(usable)) PIXEL(usable, x, y) = finite && (!GIVEN(mask) || PIXEL(mask, x, y) != 0) ? 255 : 0;
}
