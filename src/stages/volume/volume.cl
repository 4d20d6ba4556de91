// Finds the pixels of a given volume that have no candidate: volume.hpp. Each work-item processes one pixel.
//
// instance u16: TYPE=ushort REAL=0
// instance f32: TYPE=float REAL=1
#include "device/gpu/vocabulary.h"

#undef IS_CANDIDATE  // Each instance has its own.
#if REAL
#define IS_CANDIDATE(cost) ((cost) < INFINITY)
#else
#define IS_CANDIDATE(cost) ((cost) != 65535)
#endif
#define NO_CANDIDATE 1
#define MASKED 16

KERNEL(candidates)(ARRAY(const TYPE, costs), int disparities, IMAGE(const uchar, mask), IMAGE(uchar, candidates)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(candidates);
  if (x >= width || y >= HEIGHT(candidates)) return;
  GLOBAL const TYPE* at = ELEMENTS(costs) + ((long)y * width + x) * disparities;
  const int count = GIVEN(mask) && PIXEL(mask, x, y) == 0 ? 0 : disparities;
  int found = 0;
  for (int d = 0; d < count && !found; ++d) found = IS_CANDIDATE(at[d]);
  PIXEL(candidates, x, y) = (uchar)(found ? 255 : 0);
}

KERNEL(holes)(IMAGE(const uchar, mask), IMAGE(uchar, validity)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(validity) || y >= HEIGHT(validity)) return;
  if (PIXEL(validity, x, y) == MASKED && (!GIVEN(mask) || PIXEL(mask, x, y) != 0)) PIXEL(validity, x, y) = NO_CANDIDATE;
}
