// Dot products of features for a tile of a cost volume. An int packs four channels of a pixel, with one byte each.
// There is no include guard, because every instance of a kernel includes this file.
#define ELEMENT uchar
#define RUN 4
#include "device/gpu/run.cl.h"
#undef ELEMENT
#undef RUN
#include "stages/shared/dot4.cl.h"

// Number of groups of channels that are in local memory at a time.
#define CHUNK 8
// The numbers of pixels and candidates of a work-group. A work-item computes four pixels by four candidates.
#define PIXELS 64
#define CANDIDATES 32

FUNCTION int cost_of_dot(int dot, int offset, int scale, int shift, int limit) {
  return clamp(((offset - dot) * scale + (1 << (shift - 1))) >> shift, 0, limit);
}

// For use in kernels: defines the position of a work-item's tile in row y, and computes its dot products. `own` and
// `other` are in local memory.
#define DOTS_OF_TILE(left, right, width, height, groups, disparities, min_disparity, own, other)                        \
  const int parts = ((disparities) + CANDIDATES - 1) / CANDIDATES, y = group_id(1);                                     \
  const int first_x = group_id(0) / parts * PIXELS, first_k = group_id(0) % parts * CANDIDATES;                         \
  const int first_right = first_x - (min_disparity) - first_k - (CANDIDATES - 1);                                       \
  const int own_x = local_id(0) / 8 * 4, own_k = local_id(0) % 8 * 4;                                                   \
  const long row = (long)min(y, (height) - 1) * (width);                                                                \
  int dots[4][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};                                            \
  for (int group = 0; group < (groups); group += CHUNK) {                                                               \
    const int count = min(CHUNK, (groups) - group);                                                                     \
    BARRIER();                                                                                                          \
    for (int i = local_id(0); i < PIXELS * count; i += local_size(0))                                                   \
      own[i % count * PIXELS + i / count] =                                                                             \
          ELEMENTS(left)[(row + min(first_x + i / count, (width) - 1)) * (groups) + group + i % count];                 \
    for (int i = local_id(0); i < (PIXELS + CANDIDATES) * count; i += local_size(0))                                    \
      other[i % count * (PIXELS + CANDIDATES) + i / count] =                                                            \
          ELEMENTS(right)[(row + clamp(first_right + i / count, 0, (width) - 1)) * (groups) + group + i % count];       \
    BARRIER();                                                                                                          \
    for (int g = 0; g < count; ++g) add_dots(own + g * PIXELS + own_x,                                                  \
                                             other + g * (PIXELS + CANDIDATES) + own_x - own_k + CANDIDATES - 4, dots); \
  }

FUNCTION void add_dots(LOCAL_POINTER const int* own, LOCAL_POINTER const int* other, int (*dots)[4]) {
  int a[4], b[7];
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = own[i];
#pragma unroll
  for (int i = 0; i < 7; ++i) b[i] = other[i];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int k = 0; k < 4; ++k) dots[i][k] = dot4(a[i], b[i - k + 3], dots[i][k]);
}
