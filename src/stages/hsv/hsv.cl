// Colours prepared for comparison: hsv.hpp.
//
// instance u8: PIXEL_TYPE=uchar FLOAT_PIXELS=0
// instance u16: PIXEL_TYPE=ushort FLOAT_PIXELS=0
// instance f32: PIXEL_TYPE=float FLOAT_PIXELS=1
#include "device/gpu/vocabulary.h"

FUNCTION uint to_8_bits(PIXEL_TYPE value, int white) {
#if FLOAT_PIXELS
  return value > 0.0f ? (uint)((value < 255.0f ? value : 255.0f) + 0.5f) : 0u;
#else
  const int v = min((int)value, white);
  return white == 255 ? (uint)v : (uint)((v * 255 + white / 2) / white);
#endif
}

FUNCTION int is_finite(PIXEL_TYPE value) {
#if FLOAT_PIXELS
  return value - value == 0.0f;
#else
  return 1;
#endif
}

FUNCTION uint scaled(int scale, int value) { return (uint)((scale * value + 128) >> 8); }

FUNCTION uint on_diamond(int scale, int turn, int chroma) {
  const int distance = min(turn, 12 * chroma - turn);
  return (uint)((scale * (6 * chroma - distance) + 12 * chroma) / (24 * chroma));
}

FUNCTION uint hsv_word(int scale0, int scale1, int scale2, int red, int green, int blue) {
  const int value = max(red, max(green, blue));
  const int chroma = value - min(red, min(green, blue));
  const int unit = max(chroma, 1);
  int hue = value == red     ? 2 * (green - blue)
            : value == green ? 2 * (blue - red) + 4 * chroma
                             : 2 * (red - green) + 8 * chroma;
  if (hue < 0) hue += 12 * unit;
  const int back = hue < 3 * unit ? hue + 9 * unit : hue - 3 * unit;
  const uint saturation = (uint)((scale1 * 255 * chroma + 128 * value) / (256 * max(value, 1)));
  return on_diamond(scale0, hue, unit) | on_diamond(scale0, back, unit) << 8 | saturation << 16 |
         scaled(scale2, value) << 24;
}

KERNEL(hsv)(IMAGE(const PIXEL_TYPE, image), int channels, int white, int rgb, int scale0, int scale1, int scale2,
            IMAGE(const uchar, mask), IMAGE(uint, words), IMAGE(uchar, usable)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(words) || y >= HEIGHT(words)) return;
  uint word;
  int finite = is_finite(PIXEL(image, channels * x, y));
  if (channels == 1) {
    word = to_8_bits(PIXEL(image, x, y), white) << 24;
  } else {
    finite &= is_finite(PIXEL(image, 3 * x + 1, y)) & is_finite(PIXEL(image, 3 * x + 2, y));
    const int red = (int)to_8_bits(PIXEL(image, 3 * x, y), white);
    const int green = (int)to_8_bits(PIXEL(image, 3 * x + 1, y), white);
    const int blue = (int)to_8_bits(PIXEL(image, 3 * x + 2, y), white);
    word = rgb ? scaled(scale0, red) | scaled(scale1, green) << 8 | scaled(scale2, blue) << 16
               : hsv_word(scale0, scale1, scale2, red, green, blue);
  }
  PIXEL(words, x, y) = finite ? word : 0u;
  if (GIVEN(usable)) PIXEL(usable, x, y) = finite && (!GIVEN(mask) || PIXEL(mask, x, y) != 0) ? 255 : 0;
}
