// Rank transform: rank.hpp.
//
// instance u8: PIXEL_TYPE=uchar
// instance u16: PIXEL_TYPE=ushort
// instance f32: PIXEL_TYPE=float
#include "device/gpu/vocabulary.h"

KERNEL(rank)(IMAGE(const PIXEL_TYPE, grey), IMAGE(uchar, ranks), int radius) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(ranks) || y >= HEIGHT(ranks)) return;
  const PIXEL_TYPE centre = PIXEL(grey, x, y);
  int rank = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    const int row = clamp(y + dy, 0, HEIGHT(grey) - 1);
    for (int dx = -radius; dx <= radius; ++dx)
      rank += PIXEL(grey, clamp(x + dx, 0, WIDTH(grey) - 1), row) < centre;
  }
  PIXEL(ranks, x, y) = (uchar)rank;
}
