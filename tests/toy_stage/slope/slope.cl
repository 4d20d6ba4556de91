// A toy: slope_entry.cpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(slope)(IMAGE(const uchar, grey), IMAGE(uchar, slope)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(grey) || y >= HEIGHT(grey)) return;
  const int here = PIXEL(grey, x, y), next = PIXEL(grey, min(x + 1, WIDTH(grey) - 1), y);
  PIXEL(slope, x, y) = (uchar)abs(next - here);
}
