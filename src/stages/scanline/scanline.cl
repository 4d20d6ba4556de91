// Scanline optimisation: scanline.hpp. A launch processes one direction, and adds the path costs to the sums. A group
// of work-items walks along one line. Each work-item processes every local_size-th disparity. The path costs of the
// previous pixel and of the current pixel lie in local memory. If there are too many disparities (WIDE), they lie in
// scratch memory.
//
// instance narrow: WIDE=0
// instance wide: WIDE=1
#include "device/gpu/vocabulary.h"
#include "device/gpu/path_state.cl.h"

#define AHEAD 8  // number of pixels whose loads are in flight together
#define OWN 4    // largest number of disparities of a work-item

// Sets bit 0 if the colour of the pixel differs from that of its left neighbour, and bit 1 if it differs from that of
// the pixel above. A pixel outside the image has the colour of the border.
KERNEL(marks)(IMAGE(const uchar, image), ARRAY(uchar, marks), int width, int channels, int colour) {
  const int x = global_id(0), y = global_id(1);
  if (x >= width || y >= HEIGHT(image)) return;
  int beside = 0, above = 0;
  for (int c = 0; c < channels; ++c) {
    const int own = PIXEL(image, x * channels + c, y);
    beside = max(beside, (int)abs(own - (int)PIXEL(image, max(x - 1, 0) * channels + c, y)));
    above = max(above, (int)abs(own - (int)PIXEL(image, x * channels + c, max(y - 1, 0))));
  }
  ELEMENTS(marks)[(long)y * width + x] = (uchar)((beside >= colour) | (above >= colour) << 1);
}

// The data of a cell: the cost, the number of views in which the colour differs from that of the previous pixel, and
// the sum.
#define COST_OF(cell) ((int)((cell)&255u))
#define DIFFER_OF(cell) ((int)((cell) >> 8 & 255u))
#define SUM_OF(cell) ((int)((cell) >> 16))

// Returns whether the pixel at x, which may lie outside, differs from the pixel at x - dx in its row or in the previous
// row. `marks` belong to the row of the pixel.
FUNCTION int differs(GLOBAL const uchar* marks, int x, int dx, int width, int same) {
  const int here = clamp(x, 0, width - 1), there = clamp(x - dx, 0, width - 1);
  return dx != 0 && here == there ? same : marks[max(here, there)] >> (dx == 0) & 1;
}

// p1 and p2 are indexed by the number of colour differences, 0 to 2, that reach the threshold. `same` is true if the
// difference of equal colours reaches the threshold.
KERNEL(paths)(ARRAY(const uchar, left_marks), ARRAY(const uchar, right_marks), ARRAY(const uchar, costs), ARRAY(ushort, sums),
              ARRAY(ushort, scratch), int width, int height, int disparities, int min_disparity, int dx, int dy, int add, int same,
              int p1, int p1_one, int p1_both, int p2, int p2_one, int p2_both) {
  const int line = group_id(0);
  PATH_STATE(line, disparities);
  START_PATH(disparities);

  const int pixels = dy == 0 ? width : height;
  const int first_x = dy == 0 ? (dx > 0 ? 0 : width - 1) : line, first_y = dy == 0 ? line : dy > 0 ? 0 : height - 1;
  int turn = 0;

#define CELL_AT(n, k) (((long)(first_y + (n) * dy) * width + first_x + (n) * dx) * disparities + (k))
#define FETCH(cell, n, k)                                                                            \
  {                                                                                                  \
    const int x = first_x + (n)*dx, y = first_y + (n)*dy;                                            \
    const long row = (long)max(y, y - dy) * width;                                                   \
    cell = ELEMENTS(costs)[CELL_AT(n, k)];                                                           \
    if ((n) > 0)                                                                                     \
      cell |= (uint)(differs(ELEMENTS(left_marks) + row, x, dx, width, same) +                       \
                     differs(ELEMENTS(right_marks) + row, x - min_disparity - (k), dx, width, same)) \
              << 8;                                                                                  \
    if (add) cell |= (uint)ELEMENTS(sums)[CELL_AT(n, k)] << 16;                                      \
  }
#define STEP(cell, n, k)                                                                                               \
  {                                                                                                                    \
    int value = COST_OF(cell);                                                                                         \
    if ((n) > 0) {                                                                                                     \
      const int differ = DIFFER_OF(cell);                                                                              \
      const int beside = min((int)last[k], (int)last[(k) + 2]) + (differ == 0 ? p1 : differ == 1 ? p1_one : p1_both);  \
      const int jump = base + (differ == 0 ? p2 : differ == 1 ? p2_one : p2_both);                                     \
      value += min(min((int)last[(k) + 1], beside), jump) - base;                                                      \
    }                                                                                                                  \
    path[(k) + 1] = (ushort)value;                                                                                     \
    mine = min(mine, value);                                                                                           \
    ELEMENTS(sums)[CELL_AT(n, k)] = (ushort)(SUM_OF(cell) + value);                                                    \
  }

#if WIDE
  for (int n = 0; n < pixels; ++n) {
    const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
    int mine = BEYOND;
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      uint cell;
      FETCH(cell, n, k)
      STEP(cell, n, k)
    }
    END_PIXEL(turn, next, mine);
  }
#else
  for (int start = 0; start < pixels; start += AHEAD) {
    uint cells[AHEAD][OWN];
    for (int i = 0; i < AHEAD; ++i)
      for (int j = 0; j < OWN; ++j) {
        const int k = local_id(0) + j * local_size(0);
        if (k < disparities && start + i < pixels) FETCH(cells[i][j], start + i, k)
      }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (start + i >= pixels) break;
      const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
      int mine = BEYOND;
      for (int j = 0; j < OWN; ++j) {
        const int k = local_id(0) + j * local_size(0);
        if (k < disparities) STEP(cells[i][j], start + i, k)
      }
      END_PIXEL(turn, next, mine);
    }
  }
#endif
}
