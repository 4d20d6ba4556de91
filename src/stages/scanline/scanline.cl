// Scanline optimisation: scanline.hpp. Each direction is a launch that adds its path costs to the sums. A group of
// work-items walks one line; each takes every local_size-th disparity. The path costs of the last pixel and of this one
// lie in local memory, or in scratch where there are too many disparities for that (WIDE).
//
// instance narrow: WIDE=0
// instance wide: WIDE=1
#include "device/gpu/vocabulary.h"
#include "device/gpu/path_state.cl.h"

FUNCTION int difference(IMAGE(const uchar, image), int channels, int x, int y, int u, int v) {
  int largest = 0;
  for (int c = 0; c < channels; ++c)
    largest = max(largest, (int)abs((int)PIXEL(image, x * channels + c, y) - (int)PIXEL(image, u * channels + c, v)));
  return largest;
}

// p1 and p2 by how many of the two colour differences reach the threshold.
KERNEL(paths)(IMAGE(const uchar, left), IMAGE(const uchar, right), ARRAY(const uchar, costs), ARRAY(ushort, sums), ARRAY(ushort, scratch),
              int width, int height, int channels, int disparities, int min_disparity, int dx, int dy, int add, int colour,
              int p1, int p1_one, int p1_both, int p2, int p2_one, int p2_both) {
  const int line = group_id(0);
  PATH_STATE(line, disparities);
  START_PATH(disparities);

  const int pixels = dy == 0 ? width : height;
  int x = dy == 0 ? (dx > 0 ? 0 : width - 1) : line, y = dy == 0 ? line : dy > 0 ? 0 : height - 1;
  int turn = 0;
  for (int n = 0; n < pixels; ++n, x += dx, y += dy) {
    const long cell = ((long)y * width + x) * disparities;
    const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
    const int left_differs = n > 0 && difference(left, left_layout, channels, x, y, x - dx, y - dy) >= colour;
    int mine = BEYOND;
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      int value = ELEMENTS(costs)[cell + k];
      if (n > 0) {
        const int x_right = x - min_disparity - k;
        const int here = clamp(x_right, 0, width - 1), there = clamp(x_right - dx, 0, width - 1);
        const int differ = left_differs + (difference(right, right_layout, channels, here, y, there, y - dy) >= colour);
        const int beside = min((int)last[k], (int)last[k + 2]) + (differ == 0 ? p1 : differ == 1 ? p1_one : p1_both);
        const int jump = base + (differ == 0 ? p2 : differ == 1 ? p2_one : p2_both);
        value += min(min((int)last[k + 1], beside), jump) - base;
      }
      path[k + 1] = (ushort)value;
      mine = min(mine, value);
      ELEMENTS(sums)[cell + k] = (ushort)(add ? ELEMENTS(sums)[cell + k] + value : value);
    }
    END_PIXEL(turn, next, mine);
  }
}
