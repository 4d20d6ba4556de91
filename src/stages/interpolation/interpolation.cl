// Interpolation by kind: interpolation.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define NOT_FILLED 48  // masked, outside
#define REASONS 63
#define FILLED 64
#define OCCLUDED 1

KERNEL(interpolation)(IMAGE(const float, disparity), IMAGE(const uchar, image), IMAGE(const uchar, kinds), IMAGE(float, filled),
                      IMAGE(uchar, validity), int channels) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity), height = HEIGHT(disparity);
  if (x >= width || y >= height) return;
  const float own = PIXEL(disparity, x, y);
  PIXEL(filled, x, y) = own;
  if (own == own || (PIXEL(validity, x, y) & NOT_FILLED) != 0) return;
  const int occluded = PIXEL(kinds, x, y) == OCCLUDED;
  float best = INVALID;
  int nearest = 0x7FFFFFFF;
  // Two steps lead to (2, 0), (2, 1), (2, 2) and (1, 2), and to these offsets rotated by 90°, 180° and 270°.
  for (int direction = 0; direction < 16; ++direction) {
    const int at = direction & 3, turn = direction >> 2;
    const int a = at < 3 ? 2 : 1, b = at < 3 ? at : 2;
    const int dx = turn == 0 ? a : turn == 1 ? -b : turn == 2 ? -a : b;
    const int dy = turn == 0 ? b : turn == 1 ? a : turn == 2 ? -b : -a;
    for (int n = 1;; ++n) {
      const int u = x + n * dx / 2, v = y + n * dy / 2;
      if (u < 0 || v < 0 || u >= width || v >= height) break;
      const float d = PIXEL(disparity, u, v);
      if (d != d) continue;
      if (occluded) {
        if (!(d >= best)) best = d;
        break;
      }
      int colour = 0;
      for (int c = 0; c < channels; ++c) colour += abs((int)PIXEL(image, x * channels + c, y) - (int)PIXEL(image, u * channels + c, v));
      if (colour < nearest) {
        nearest = colour;
        best = d;
      }
      break;
    }
  }
  if (best != best) return;
  PIXEL(filled, x, y) = best + 0.0f;  // −0 becomes +0
  PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
}
