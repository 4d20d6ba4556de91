// Semi-global matching: sgm.hpp. Each direction is a launch that adds its path costs to the sums.
//
// A group of work-items walks one path; each takes every local_size-th disparity. The path costs of the last pixel and
// of this one lie in local memory, or in scratch where there are too many disparities for that (WIDE).
//
// instance rank: WORD=uchar COST=RANK WIDE=0
// instance census32: WORD=uint COST=CENSUS WIDE=0
// instance census64: WORD=ulong COST=CENSUS WIDE=0
// instance census_gradient: WORD=uint COST=CENSUS_GRADIENT WIDE=0
// instance rank_wide: WORD=uchar COST=RANK WIDE=1
// instance census32_wide: WORD=uint COST=CENSUS WIDE=1
// instance census64_wide: WORD=ulong COST=CENSUS WIDE=1
// instance census_gradient_wide: WORD=uint COST=CENSUS_GRADIENT WIDE=1
#include "device/gpu/vocabulary.h"
#include "stages/cost/cost.cl.h"

// Path costs of disparity k are at k + 1; both ends hold more than any path costs.
#undef STATE
#define NARROW_STATE 1026
#define BEYOND 65535
#if WIDE
#define STATE GLOBAL ushort
#else
#define STATE LOCAL_POINTER ushort
#endif

KERNEL(paths)(IMAGE(const WORD, left), IMAGE(const WORD, right), IMAGE(const uchar, guide), ARRAY(ushort, sums),
              ARRAY(ushort, scratch), int disparities, int min_disparity, int dx, int dy, int add, int p1, int p2,
              int p2_min, int gradient, int census_weight, int gradient_limit) {
#if !WIDE
  LOCAL ushort state[2 * NARROW_STATE];
#endif
  LOCAL int lowest[3];  // of the last pixel, of this one, and of the next one, in turn
  const int width = WIDTH(left), height = HEIGHT(left), line = group_id(0);

  // Lines start at the row they all cross, if there is one, and then at the column.
  int x, y;
  if (dy == 0) {
    x = dx > 0 ? 0 : width - 1;
    y = line;
  } else if (line < width) {
    x = line;
    y = dy > 0 ? 0 : height - 1;
  } else {
    x = dx > 0 ? 0 : width - 1;
    y = dy > 0 ? line - width + 1 : height - 2 - (line - width);
  }

#if WIDE
  STATE* last = ELEMENTS(scratch) + (long)line * 2 * (disparities + 2);
  STATE* path = last + disparities + 2;
#else
  STATE* last = state;
  STATE* path = state + NARROW_STATE;
#endif
  if (local_id(0) == 0) {
    last[0] = path[0] = last[disparities + 1] = path[disparities + 1] = BEYOND;
    lowest[0] = lowest[1] = lowest[2] = BEYOND;
  }
  BARRIER();

  int turn = 0, before = 0;
  for (int n = 0; x >= 0 && x < width && y >= 0 && y < height; ++n, x += dx, y += dy) {
    const WORD word = PIXEL(left, x, y);
    GLOBAL ushort* sum = ELEMENTS(sums) + ((long)y * width + x) * disparities;
    const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
    int jump = p2;
    if (GIVEN(guide)) {
      const int here = PIXEL(guide, x, y);
      if (n > 0) jump = max(p2_min, min(p2, p2 * gradient / max(1, (int)abs(here - before))));
      before = here;
    }
    int mine = BEYOND;
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      int cost = matching_cost(word, PIXEL(right, clamp(x - min_disparity - k, 0, width - 1), y), census_weight,
                               gradient_limit);
      if (n > 0)
        cost += min(min((int)last[k + 1], base + jump), min((int)last[k], (int)last[k + 2]) + p1) - base;
      path[k + 1] = (ushort)cost;
      sum[k] = (ushort)(add ? sum[k] + cost : cost);
      mine = min(mine, cost);
    }
    atomic_min(&lowest[next], mine);
    if (local_id(0) == 0) lowest[next == 2 ? 0 : next + 1] = BEYOND;
    BARRIER();
    STATE* const swapped = last;
    last = path;
    path = swapped;
    turn = next;
  }
}
