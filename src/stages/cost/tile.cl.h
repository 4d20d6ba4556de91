// A tile of a cost volume for one work-item: TILE_X pixels by four disparities. A right pixel is read once for four
// costs, which are written at once. The grid is computed in tile.hpp. There is no include guard, because every instance
// of a kernel includes this file.
#define ELEMENT uchar
#define RUN 4
#include "device/gpu/run.cl.h"
#undef ELEMENT
#undef RUN

#define TILE_X 8

// This macro is for use in kernels. LEFT(x) and RIGHT(x) read the WORDs of row y, where x of the right view may lie
// outside the image. COST_OF computes the cost of two words.
#define COST_TILE(costs, width, height, disparities, min_disparity, LEFT, RIGHT, COST_OF)                      \
  const int runs = ((disparities) + 3) / 4, y = global_id(1);                                                  \
  const int first_x = global_id(0) / runs * TILE_X, first_k = global_id(0) % runs * 4;                         \
  if (first_x >= (width) || y >= (height)) return;                                                             \
  GLOBAL uchar* out = ELEMENTS(costs) + ((long)y * (width) + first_x) * (disparities) + first_k;               \
  const int whole = in_runs(ELEMENTS(costs), disparities);                                                     \
  const int first_right = first_x - (min_disparity) - first_k;                                                 \
  WORD second = RIGHT(first_right - 1), third = RIGHT(first_right - 2), fourth = RIGHT(first_right - 3);       \
  for (int i = 0; i < TILE_X && first_x + i < (width); ++i, out += (disparities)) {                            \
    const WORD own = LEFT(first_x + i), first = RIGHT(first_right + i);                                        \
    const Run run = {{(uchar)COST_OF(own, first), (uchar)COST_OF(own, second), (uchar)COST_OF(own, third),     \
                      (uchar)COST_OF(own, fourth)}};                                                           \
    store_run(out, run, (disparities)-first_k, whole);                                                         \
    fourth = third;                                                                                            \
    third = second;                                                                                            \
    second = first;                                                                                            \
  }
