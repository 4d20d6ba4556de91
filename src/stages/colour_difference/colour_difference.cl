// Cost volume of truncated colour differences: colour_difference.hpp.
//
// instance any: WORD=uint
#include "device/gpu/vocabulary.h"
#include "stages/cost/tile.cl.h"

FUNCTION int channel_difference(uint a, uint b, int shift) {
  return (int)abs((int)(a >> shift & 255u) - (int)(b >> shift & 255u));
}

FUNCTION int colour_difference(uint a, uint b, int truncation) {
  return min(channel_difference(a, b, 0) + channel_difference(a, b, 8) + channel_difference(a, b, 16), truncation);
}

KERNEL(costs)(IMAGE(const uint, left), IMAGE(const uint, right), ARRAY(uchar, costs), int disparities, int min_disparity,
              int truncation) {
#define LEFT(x) PIXEL(left, x, y)
#define RIGHT(x) PIXEL(right, clamp(x, 0, WIDTH(right) - 1), y)
#define COST_OF(own, other) colour_difference(own, other, truncation)
  COST_TILE(costs, WIDTH(left), HEIGHT(left), disparities, min_disparity, LEFT, RIGHT, COST_OF)
}
