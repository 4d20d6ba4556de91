// Pixels without contrast: contrast.hpp. Each work-item compares the window of a measured pixel, up to the first
// difference.
//
// instance u8: PIXEL_TYPE=uchar
// instance u16: PIXEL_TYPE=ushort
// instance f32: PIXEL_TYPE=float
#include "device/gpu/vocabulary.h"

#define REACH 3
#define FILLED 64

FUNCTION int differs(GLOBAL const PIXEL_TYPE* a, GLOBAL const PIXEL_TYPE* b, int channels) {
  int different = 0;
  for (int c = 0; c < channels; ++c) different |= a[c] != b[c];
  return different;
}

KERNEL(contrast)(IMAGE(const PIXEL_TYPE, image), IMAGE(uchar, validity), int channels, int factor, int first_row) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(validity) || y >= HEIGHT(validity) || PIXEL(validity, x, y) != 0) return;
  const int u = factor * x, v = factor * (y + first_row), beyond = factor - 1 + REACH;
  const int left = max(0, u - REACH), right = min(WIDTH(image) - 1, u + beyond);
  const int top = max(0, v - REACH), bottom = min(HEIGHT(image) - 1, v + beyond);
  GLOBAL const PIXEL_TYPE* first = &PIXEL(image, (long)left * channels, top);
  for (int row = top; row <= bottom; ++row)
    for (int column = left; column <= right; ++column)
      if ((row != top || column != left) && differs(&PIXEL(image, (long)column * channels, row), first, channels))
        return;
  PIXEL(validity, x, y) = FILLED;
}
