// The sum over the window of one pixel at one disparity. The sum compares (x, y) in the reference view with (x + shift,
// y) in the other view. There is no include guard, because each instance of a kernel includes this file.
#include "stages/cost/colours.cl.h"

// Square windows of 3, 5 and 7 pixels are compile-time constants.
#undef RADIUS_X
#undef RADIUS_Y
#if FIXED_RADIUS > 0
#define RADIUS_X FIXED_RADIUS
#define RADIUS_Y FIXED_RADIUS
#else
#define RADIUS_X radius_x
#define RADIUS_Y radius_y
#endif
#define WINDOW_AREA ((2 * RADIUS_X + 1) * (2 * RADIUS_Y + 1))

// Returns whether a window, and the windows of the other view for the shifts from `first` to `last`, lie inside the
// image.
FUNCTION int window_is_inside(int width, int radius_x, int x, int first, int last) {
  return x >= radius_x && x + radius_x < width && x - radius_x + first >= 0 && x + radius_x + last < width;
}

FUNCTION int window_sum(GLOBAL const uint* reference, Layout reference_layout, GLOBAL const uint* other, Layout other_layout,
                        int radius_x, int radius_y, int x, int y, int shift) {
  const int width = reference_layout.width, height = reference_layout.height;
  const int inside = window_is_inside(width, radius_x, x, shift, shift);
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

// Computes the sums for shift to shift + 3 if all windows lie inside the image. Consecutive shifts share their loads.
FUNCTION void window_sums_of_4(GLOBAL const uint* reference, Layout reference_layout, GLOBAL const uint* other,
                               Layout other_layout, int radius_x, int radius_y, int x, int y, int shift,
                               int* sums) {
  uint sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  for (int dy = -radius_y; dy <= radius_y; ++dy) {
    const int row = clamp(y + dy, 0, reference_layout.height - 1);
    GLOBAL const uint* a = reference + reference_layout.offset + row * reference_layout.pitch;
    GLOBAL const uint* b = other + other_layout.offset + row * other_layout.pitch + shift;
    uint b0 = b[x - radius_x], b1 = b[x - radius_x + 1], b2 = b[x - radius_x + 2];
    for (int i = x - radius_x; i <= x + radius_x; ++i) {
      const uint here = a[i], b3 = b[i + 3];
      sum0 += colour_difference(here, b0);
      sum1 += colour_difference(here, b1);
      sum2 += colour_difference(here, b2);
      sum3 += colour_difference(here, b3);
      b0 = b1;
      b1 = b2;
      b2 = b3;
    }
  }
  sums[0] = (int)sum0;
  sums[1] = (int)sum1;
  sums[2] = (int)sum2;
  sums[3] = (int)sum3;
}
