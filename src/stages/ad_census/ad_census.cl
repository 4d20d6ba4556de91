// Cost volume from absolute differences and census: ad_census.hpp.
//
// instance any: WORD=Word
#include "device/gpu/vocabulary.h"
#include "stages/cost/tile.cl.h"

typedef struct {
  uchar colour[766];
  uchar census[66];
} Tables;

typedef struct {
  uint colour;
  ulong census;
} Word;

FUNCTION Word word_at(IMAGE(const uchar, image), IMAGE(const ulong, census), int channels, int outside_x, int y) {
  const int x = clamp(outside_x, 0, WIDTH(census) - 1);
  Word word = {0, PIXEL(census, x, y)};
  for (int c = 0; c < 3; ++c) word.colour |= (uint)PIXEL(image, x * channels + min(c, channels - 1), y) << 8 * c;
  return word;
}

FUNCTION int difference(uint a, uint b, int shift) { return abs((int)(a >> shift & 255u) - (int)(b >> shift & 255u)); }

FUNCTION int cost_of(Word a, Word b, LOCAL_POINTER const uchar* colour, LOCAL_POINTER const uchar* census) {
  const int differences = difference(a.colour, b.colour, 0) + difference(a.colour, b.colour, 8) + difference(a.colour, b.colour, 16);
  return colour[differences] + census[popcount(a.census ^ b.census)];
}

KERNEL(ad_census)(IMAGE(const uchar, left), IMAGE(const uchar, right), IMAGE(const ulong, left_census), IMAGE(const ulong, right_census),
                  ARRAY(uchar, costs), int channels, int disparities, int min_disparity, Tables tables) {
  LOCAL uchar colour[766];
  LOCAL uchar census[66];
  for (int i = local_id(0); i < 766; i += local_size(0)) colour[i] = tables.colour[i];
  for (int i = local_id(0); i < 66; i += local_size(0)) census[i] = tables.census[i];
  BARRIER();

#define LEFT(x) word_at(left, left_layout, left_census, left_census_layout, channels, x, y)
#define RIGHT(x) word_at(right, right_layout, right_census, right_census_layout, channels, x, y)
#define COST_OF(own, other) cost_of(own, other, colour, census)
  COST_TILE(costs, WIDTH(left_census), HEIGHT(left_census), disparities, min_disparity, LEFT, RIGHT, COST_OF)
}
