// Converts images in the formats of cameras and decoders to RGB: pixel_format.hpp.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0
// instance f32: PIXEL_TYPE=float IS_FLOAT=1
#include "device/gpu/vocabulary.h"

KERNEL(channel_order)(IMAGE(const PIXEL_TYPE, image), IMAGE(PIXEL_TYPE, rgb), int channels, int red) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(rgb) || y >= HEIGHT(rgb)) return;
  GLOBAL const PIXEL_TYPE* in = &PIXEL(image, (long)x * channels, y);
  GLOBAL PIXEL_TYPE* out = &PIXEL(rgb, (long)x * 3, y);
  out[0] = in[red];
  out[1] = in[1];
  out[2] = in[2 - red];
}

FUNCTION PIXEL_TYPE clipped(int v) { return (PIXEL_TYPE)clamp((v + 128) >> 8, 0, 255); }

KERNEL(nv12)(IMAGE(const PIXEL_TYPE, luma), IMAGE(const PIXEL_TYPE, chroma), IMAGE(PIXEL_TYPE, rgb), int first_x,
             int first_y) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(rgb) || y >= HEIGHT(rgb)) return;
  GLOBAL const PIXEL_TYPE* uv = &PIXEL(chroma, (long)((x + first_x) / 2) * 2, (y + first_y) / 2);
  const int c = 298 * ((int)PIXEL(luma, x, y) - 16), d = (int)uv[0] - 128, e = (int)uv[1] - 128;
  GLOBAL PIXEL_TYPE* out = &PIXEL(rgb, (long)x * 3, y);
  out[0] = clipped(c + 409 * e);
  out[1] = clipped(c - 100 * d - 208 * e);
  out[2] = clipped(c + 516 * d);
}

#if IS_FLOAT
#define NUMBER float
FUNCTION float mean_of_2(float sum) { return sum * 0.5f; }
FUNCTION float mean_of_4(float sum) { return sum * 0.25f; }
#else
#define NUMBER uint
FUNCTION uint mean_of_2(uint sum) { return (sum + 1u) >> 1; }
FUNCTION uint mean_of_4(uint sum) { return (sum + 2u) >> 2; }
#endif
#define AT(x, y) ((NUMBER)PIXEL(mosaic, x, y))

KERNEL(bayer)(IMAGE(const PIXEL_TYPE, mosaic), IMAGE(PIXEL_TYPE, rgb), int first_x, int first_y, int red_x, int red_y) {
  const int column = global_id(0), row = global_id(1);
  if (column >= WIDTH(rgb) || row >= HEIGHT(rgb)) return;
  const int x = column + first_x, y = row + first_y;
  const int left = x == 0 ? 1 : x - 1, right = x == WIDTH(mosaic) - 1 ? x - 1 : x + 1;
  const int above = y == 0 ? 1 : y - 1, below = y == HEIGHT(mosaic) - 1 ? y - 1 : y + 1;
  const int red_row = ((y - red_y) & 1) == 0, red_column = ((x - red_x) & 1) == 0;
  // Values of the colour that this row has in addition to green, and of the third colour.
  NUMBER green, in_row, in_other;
  if (red_row != red_column) {
    green = AT(x, y);
    in_row = mean_of_2(AT(left, y) + AT(right, y));
    in_other = mean_of_2(AT(x, above) + AT(x, below));
  } else {
    green = mean_of_4(AT(x, above) + AT(left, y) + AT(right, y) + AT(x, below));
    in_row = AT(x, y);
    in_other = mean_of_4(AT(left, above) + AT(right, above) + AT(left, below) + AT(right, below));
  }
  GLOBAL PIXEL_TYPE* out = &PIXEL(rgb, (long)column * 3, row);
  out[0] = (PIXEL_TYPE)(red_row ? in_row : in_other);
  out[1] = (PIXEL_TYPE)green;
  out[2] = (PIXEL_TYPE)(red_row ? in_other : in_row);
}
#undef AT
#undef NUMBER
