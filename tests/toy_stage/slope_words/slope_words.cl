// A toy: slope_words_entry.cpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(words)(IMAGE(const uchar, grey), IMAGE(const uchar, slope), IMAGE(ushort, words)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(grey) || y >= HEIGHT(grey)) return;
  PIXEL(words, x, y) = (ushort)(PIXEL(grey, x, y) | PIXEL(slope, x, y) << 8);
}

KERNEL(costs)(IMAGE(const ushort, words), IMAGE(const ushort, other), ARRAY(uchar, costs), int disparities, int least) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(words);
  if (x >= width || y >= HEIGHT(words)) return;
  GLOBAL uchar* cost = ELEMENTS(costs) + ((long)y * width + x) * disparities;
  const int a = PIXEL(words, x, y);
  for (int k = 0; k < disparities; ++k) {
    const int b = PIXEL(other, clamp(x - least - k, 0, width - 1), y);
    cost[k] = (uchar)min((int)(abs((a & 255) - (b & 255)) + abs((a >> 8) - (b >> 8))), 255);
  }
}
