// Census transform: census.hpp.
//
// instance u8_32: PIXEL_TYPE=uchar WORD=uint
// instance u16_32: PIXEL_TYPE=ushort WORD=uint
// instance f32_32: PIXEL_TYPE=float WORD=uint
// instance u8_64: PIXEL_TYPE=uchar WORD=ulong
// instance u16_64: PIXEL_TYPE=ushort WORD=ulong
// instance f32_64: PIXEL_TYPE=float WORD=ulong
// instance u8_128: PIXEL_TYPE=uchar WORD=ulong2 TWO_ULONGS=1
// instance u16_128: PIXEL_TYPE=ushort WORD=ulong2 TWO_ULONGS=1
// instance f32_128: PIXEL_TYPE=float WORD=ulong2 TWO_ULONGS=1
#include "device/gpu/vocabulary.h"

KERNEL(census)(IMAGE(const PIXEL_TYPE, grey), IMAGE(WORD, census), int radius_x, int radius_y) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(census) || y >= HEIGHT(census)) return;
  const PIXEL_TYPE centre = PIXEL(grey, x, y);
#ifdef TWO_ULONGS
  ulong word = 0, high = 0;
#else
  WORD word = 0;
#endif
  for (int dy = -radius_y; dy <= radius_y; ++dy) {
    const int row = clamp(y + dy, 0, HEIGHT(grey) - 1);
    for (int dx = -radius_x; dx <= radius_x; ++dx)
      if (dx != 0 || dy != 0) {
#ifdef TWO_ULONGS
        high = high << 1 | word >> 63;
#endif
        word = word << 1 | (centre > PIXEL(grey, clamp(x + dx, 0, WIDTH(grey) - 1), row) ? 1 : 0);
      }
  }
#ifdef TWO_ULONGS
  WORD both;
  both.x = word;
  both.y = high;
  PIXEL(census, x, y) = both;
#else
  PIXEL(census, x, y) = word;
#endif
}
