// Census with gradient: census_gradient.hpp.
//
// instance u8: PIXEL_TYPE=uchar
// instance u16: PIXEL_TYPE=ushort
// instance f32: PIXEL_TYPE=float
#include "device/gpu/vocabulary.h"

KERNEL(census_gradient)(IMAGE(const PIXEL_TYPE, grey), IMAGE(const uchar, grey8), IMAGE(uint, words)) {
  const int x = global_id(0), y = global_id(1);
  const int last_x = WIDTH(words) - 1, last_y = HEIGHT(words) - 1;
  if (x > last_x || y > last_y) return;
  const int behind = PIXEL(grey8, min(x + 1, last_x), y), before = PIXEL(grey8, max(x - 1, 0), y);
  uint word = (uint)clamp(128 + behind - before, 0, 255) << 24;
  const PIXEL_TYPE centre = PIXEL(grey, x, y);
  int bit = 0;
  for (int dy = -2; dy <= 2; ++dy) {
    const int row = clamp(y + dy, 0, last_y);
    for (int dx = -2; dx <= 2; ++dx)
      if (dx != 0 || dy != 0) word |= (uint)(PIXEL(grey, clamp(x + dx, 0, last_x), row) < centre) << bit++;
  }
  PIXEL(words, x, y) = word;
}
