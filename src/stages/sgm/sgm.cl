// Semi-global matching from features, or from a volume of 8-bit costs: sgm.hpp. A launch processes one direction in a stripe of rows, and adds the path
// costs to the sums.
//
// A group of work-items walks along one path. Each work-item processes every local_size-th disparity. The path costs of
// the previous pixel and of the current pixel lie in local memory. If there are too many disparities (WIDE), they lie
// in scratch memory.
//
// instance rank: WORD=uchar COST=RANK WIDE=0
// instance census32: WORD=uint COST=CENSUS WIDE=0
// instance census64: WORD=ulong COST=CENSUS WIDE=0
// instance census_gradient: WORD=uint COST=CENSUS_GRADIENT WIDE=0
// instance given: WORD=uchar COST=GIVEN_COSTS WIDE=0
// instance rank_wide: WORD=uchar COST=RANK WIDE=1
// instance census32_wide: WORD=uint COST=CENSUS WIDE=1
// instance census64_wide: WORD=ulong COST=CENSUS WIDE=1
// instance census_gradient_wide: WORD=uint COST=CENSUS_GRADIENT WIDE=1
// instance given_wide: WORD=uchar COST=GIVEN_COSTS WIDE=1
#include "device/gpu/vocabulary.h"
#include "stages/cost/cost.cl.h"
#include "device/gpu/path_state.cl.h"

#if COST == GIVEN_COSTS
// `left` is the volume, with a channel for each candidate.
#define COST_OF(k) min((int)PIXEL(left, (long)x * disparities + (k), y), census_weight)
#else
#define COST_OF(k) \
  matching_cost(word, PIXEL(right, clamp(x - min_disparity - (k), 0, width - 1), y), census_weight, gradient_limit)
#endif

// `sums` belongs to the stripe, or is absent. `before` has the path costs of every column in the row before the stripe.
// `before` is absent at the border of the image. `behind` receives the path costs in the last row of the stripe, if
// requested.
KERNEL(paths)(IMAGE(const WORD, left), IMAGE(const WORD, right), IMAGE(const uchar, guide), ARRAY(ushort, sums),
              ARRAY(ushort, scratch), ARRAY(const ushort, before), ARRAY(ushort, behind), int first_row, int rows,
              int disparities, int min_disparity, int dx, int dy, int add, int p1, int p2,
              int p2_min, int gradient, int census_weight, int gradient_limit) {
  const int width = WIDTH(left), line = group_id(0);
  const int entry = dy < 0 ? first_row + rows - 1 : first_row, leave = dy < 0 ? first_row : first_row + rows - 1;

  // Lines start in the row that all lines cross, if there is such a row. The remaining lines start in the first or last
  // column.
  int x, y;
  if (dy == 0) {
    x = dx > 0 ? 0 : width - 1;
    y = first_row + line;
  } else if (line < width) {
    x = line;
    y = entry;
  } else {
    x = dx > 0 ? 0 : width - 1;
    y = entry + dy * (line - width + 1);
  }

  PATH_STATE(line, disparities);
  START_PATH(disparities);

  int turn = 0, grey = 0, n = 0;
  if (GIVEN(before) && line < width && x - dx >= 0 && x - dx < width) {
    GLOBAL const ushort* kept = ELEMENTS(before) + (long)(x - dx) * disparities;
    int mine = BEYOND;
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      last[k + 1] = kept[k];
      mine = min(mine, (int)kept[k]);
    }
    atomic_min(&lowest[0], mine);
    if (GIVEN(guide)) grey = PIXEL(guide, x - dx, y - dy);
    n = 1;
    BARRIER();
  }
  for (; x >= 0 && x < width && y >= first_row && y < first_row + rows; ++n, x += dx, y += dy) {
    const WORD word = PIXEL(left, x, y);
    GLOBAL ushort* sum = ELEMENTS(sums) + ((long)(y - first_row) * width + x) * disparities;
    GLOBAL ushort* end = ELEMENTS(behind) + (long)x * disparities;
    const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
    int jump = p2;
    if (GIVEN(guide)) {
      const int here = PIXEL(guide, x, y);
      if (n > 0) jump = max(p2_min, min(p2, p2 * gradient / max(1, (int)abs(here - grey))));
      grey = here;
    }
    int mine = BEYOND;
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      int cost = COST_OF(k);
      if (n > 0)
        cost += min(min((int)last[k + 1], base + jump), min((int)last[k], (int)last[k + 2]) + p1) - base;
      path[k + 1] = (ushort)cost;
      if (GIVEN(sums)) sum[k] = (ushort)(add ? sum[k] + cost : cost);
      if (GIVEN(behind) && y == leave) end[k] = (ushort)cost;
      mine = min(mine, cost);
    }
    END_PIXEL(turn, next, mine);
  }
}
