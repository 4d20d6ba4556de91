// Volumes of costs: cost_volume.hpp.
//
// instance rank: WORD=uchar COST=RANK
// instance census32: WORD=uint COST=CENSUS
// instance census64: WORD=ulong COST=CENSUS
// instance census128: WORD=ulong2 COST=CENSUS TWO_ULONGS=1
// instance census_gradient: WORD=uint COST=CENSUS_GRADIENT
// instance absolute_difference: WORD=uint COST=ABSOLUTE_DIFFERENCE
// instance squared_difference: WORD=uint COST=SQUARED_DIFFERENCE
// instance colour_gradient: WORD=ulong COST=COLOUR_GRADIENT
#include "device/gpu/vocabulary.h"
#include "stages/cost/cost.cl.h"

// A work-item for each cell of a row. The parameters are those of matching_cost.
KERNEL(cost_volume)(IMAGE(const WORD, left), IMAGE(const WORD, right), ARRAY(uchar, costs), int disparities, int min_disparity,
                    int a, int b, int c, int d, int replicates, int outside_colour, int outside_gradient) {
  const int cell = global_id(0), y = global_id(1), width = WIDTH(left);
  if (cell >= width * disparities || y >= HEIGHT(left)) return;
  const int x = cell / disparities;
  const int x_right = x - min_disparity - cell % disparities;
  const WORD word = PIXEL(left, x, y);
#if COST == COLOUR_GRADIENT
  WORD other = PIXEL(right, clamp(x_right, 0, width - 1), y);
  if (!replicates && x_right != clamp(x_right, 0, width - 1)) other = (ulong)outside_colour | (ulong)outside_gradient << 32;
  const int cost = matching_cost(word, other, a, b, c, d);
#else
  const int cost = matching_cost(word, PIXEL(right, clamp(x_right, 0, width - 1), y), a, b);
#endif
  ELEMENTS(costs)[(long)y * width * disparities + cell] = (uchar)cost;
}
