// Samples of grey values: zncc.hpp.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0
// instance f32: PIXEL_TYPE=float IS_FLOAT=1
#include "device/gpu/vocabulary.h"

KERNEL(samples)(IMAGE(const PIXEL_TYPE, grey), IMAGE(short, samples), int bit_depth) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(samples) || y >= HEIGHT(samples)) return;
#if IS_FLOAT
  const float scaled = floor((PIXEL(grey, x, y) - 256.0f) * 64.0f + 0.5f);
  PIXEL(samples, x, y) = (short)fmin(fmax(scaled, -32768.0f), 32767.0f);
#else
  PIXEL(samples, x, y) = (short)(min((int)PIXEL(grey, x, y), (1 << bit_depth) - 1) - (1 << (bit_depth - 1)));
#endif
}
