// Cost volumes: cost_volume.hpp.
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
#include "stages/cost/tile.cl.h"

#undef LEFT
#undef RIGHT
#undef COST_OF
#define LEFT(x) PIXEL(left, x, y)
#if COST == COLOUR_GRADIENT
// Returns the word of the right view. Outside the image, this is the word at the border, or a given word.
FUNCTION WORD right_word(IMAGE(const WORD, right), int x, int y, int replicates, WORD outside) {
  const int inside = clamp(x, 0, WIDTH(right) - 1);
  return replicates || x == inside ? PIXEL(right, inside, y) : outside;
}
#define RIGHT(x) right_word(right, right_layout, x, y, replicates, (ulong)outside_colour | (ulong)outside_gradient << 32)
#define COST_OF(own, other) matching_cost(own, other, a, b, c, d)
#else
#define RIGHT(x) PIXEL(right, clamp(x, 0, WIDTH(right) - 1), y)
#define COST_OF(own, other) matching_cost(own, other, a, b)
#endif

// The arguments a, b, c and d are the parameters of matching_cost.
KERNEL(cost_volume)(IMAGE(const WORD, left), IMAGE(const WORD, right), ARRAY(uchar, costs), int disparities, int min_disparity,
                    int a, int b, int c, int d, int replicates, int outside_colour, int outside_gradient) {
  COST_TILE(costs, WIDTH(left), HEIGHT(left), disparities, min_disparity, LEFT, RIGHT, COST_OF)
}
