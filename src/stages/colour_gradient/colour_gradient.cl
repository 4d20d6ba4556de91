// Colour and gradient words: colour_gradient.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(colour_gradient)(IMAGE(const uchar, image), IMAGE(const uchar, grey), IMAGE(ulong, words), int channels) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(words);
  if (x >= width || y >= HEIGHT(words)) return;
  const int last = channels - 1, middle = min(1, last);
  const uint red = PIXEL(image, x * channels, y), green = PIXEL(image, x * channels + middle, y),
             blue = PIXEL(image, x * channels + last, y);
  const int gradient = (int)PIXEL(grey, min(x + 1, width - 1), y) - (int)PIXEL(grey, max(x - 1, 0), y);
  PIXEL(words, x, y) = (ulong)(red | green << 8 | blue << 16) | (ulong)(256 + gradient) << 32;
}
