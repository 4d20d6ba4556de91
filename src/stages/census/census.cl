// Census transform: census.hpp.
//
// instance u8_32: PIXEL_TYPE=uchar WORD=uint
// instance u16_32: PIXEL_TYPE=ushort WORD=uint
// instance f32_32: PIXEL_TYPE=float WORD=uint
// instance u8_64: PIXEL_TYPE=uchar WORD=ulong
// instance u16_64: PIXEL_TYPE=ushort WORD=ulong
// instance f32_64: PIXEL_TYPE=float WORD=ulong
#include "device/gpu/vocabulary.h"

KERNEL(census)(IMAGE(const PIXEL_TYPE, grey), IMAGE(WORD, census), int radius_x, int radius_y) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(census) || y >= HEIGHT(census)) return;
  const PIXEL_TYPE centre = PIXEL(grey, x, y);
  WORD word = 0;
  for (int dy = -radius_y; dy <= radius_y; ++dy) {
    const int row = clamp(y + dy, 0, HEIGHT(grey) - 1);
    for (int dx = -radius_x; dx <= radius_x; ++dx)
      if (dx != 0 || dy != 0)
        word = word << 1 | (WORD)(centre > PIXEL(grey, clamp(x + dx, 0, WIDTH(grey) - 1), row));
  }
  PIXEL(census, x, y) = word;
}
