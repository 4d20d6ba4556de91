// The window sum of one pixel at one disparity: reference (x, y) against other (x + shift, y).
#ifndef STEREOPSIS_WINDOW_SAD_CL_H
#define STEREOPSIS_WINDOW_SAD_CL_H

#include "stages/cost/colours.cl.h"

FUNCTION int window_sum(GLOBAL const uint* reference, Layout reference_layout, GLOBAL const uint* other, Layout other_layout,
                        int radius_x, int radius_y, int x, int y, int shift) {
  const int width = reference_layout.width, height = reference_layout.height;
  const int inside = x >= radius_x && x + radius_x < width && x - radius_x + shift >= 0 && x + radius_x + shift < width;
  uint sum = 0;
  for (int dy = -radius_y; dy <= radius_y; ++dy) {
    const int row = clamp(y + dy, 0, height - 1);
    GLOBAL const uint* a = reference + reference_layout.offset + row * reference_layout.pitch;
    GLOBAL const uint* b = other + other_layout.offset + row * other_layout.pitch;
    if (inside) {
      for (int i = x - radius_x; i <= x + radius_x; ++i) sum += colour_difference(a[i], b[i + shift]);
    } else {
      for (int dx = -radius_x; dx <= radius_x; ++dx) {
        const int i = clamp(x + dx, 0, width - 1);
        sum += colour_difference(a[i], b[clamp(i + shift, 0, width - 1)]);
      }
    }
  }
  return (int)sum;
}

#endif
