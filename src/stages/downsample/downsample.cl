// Reduction by averaging: downsample.hpp.
//
// instance u8: PIXEL_TYPE=uchar SUM_TYPE=uint FLOAT_PIXELS=0
// instance u16: PIXEL_TYPE=ushort SUM_TYPE=uint FLOAT_PIXELS=0
// instance f32: PIXEL_TYPE=float SUM_TYPE=float FLOAT_PIXELS=1
#include "device/gpu/vocabulary.h"

KERNEL(downsample)(IMAGE(const PIXEL_TYPE, image), int channels, int factor, float weight, IMAGE(PIXEL_TYPE, out)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(out) * channels || y >= HEIGHT(out)) return;
  const int column = x / channels, channel = x % channels;
  SUM_TYPE sum = 0;
  for (int dy = 0; dy < factor; ++dy) {
    const int row = min(factor * y + dy, HEIGHT(image) - 1);
    for (int dx = 0; dx < factor; ++dx)
      sum += PIXEL(image, min(factor * column + dx, WIDTH(image) - 1) * channels + channel, row);
  }
#if FLOAT_PIXELS
  PIXEL(out, x, y) = sum * weight;
#else
  const uint count = (uint)(factor * factor);
  PIXEL(out, x, y) = (PIXEL_TYPE)((sum + count / 2) / count);
#endif
}
