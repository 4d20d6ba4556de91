// Words of colours for absolute and squared differences: difference.hpp.
//
// instance u8: PIXEL_TYPE=uchar
// instance u32: PIXEL_TYPE=uint
#include "device/gpu/vocabulary.h"

KERNEL(words)(IMAGE(const PIXEL_TYPE, image), IMAGE(uint, words), int is_lab) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(words) || y >= HEIGHT(words)) return;
  const uint pixel = PIXEL(image, x, y);
  uint word = pixel;
  if (is_lab) {
    word = 0;
    for (int channel = 0; channel < 3; ++channel)
      word |= min(((pixel >> 10 * channel & 1023u) + 2u) / 4u, 255u) << 8 * channel;
  }
  PIXEL(words, x, y) = word;
}
