// The matching cost of two feature words, as cost.hpp defines it. COST is RANK, CENSUS or CENSUS_GRADIENT, or one of
// the costs below, which have parameters; kernels read GIVEN_COSTS from a volume. There is no include guard, because each instance of a kernel includes this
// file with its own WORD.
#define RANK 1
#define CENSUS 2
#define CENSUS_GRADIENT 3
#define COLOUR_GRADIENT 4
#define ABSOLUTE_DIFFERENCE 5
#define SQUARED_DIFFERENCE 6
#define GIVEN_COSTS 7

#if COST == COLOUR_GRADIENT
FUNCTION int byte_difference(ulong a, ulong b, int shift) { return abs((int)(a >> shift & 255) - (int)(b >> shift & 255)); }

FUNCTION int matching_cost(ulong a, ulong b, int colour_factor, int gradient_factor, int colour_limit, int gradient_limit) {
  const int colours = byte_difference(a, b, 0) + byte_difference(a, b, 8) + byte_difference(a, b, 16);
  const int gradient = abs((int)(a >> 32) - (int)(b >> 32));
  return (colour_factor * min(colours, colour_limit) + gradient_factor * min(gradient, gradient_limit) + 32768) >> 16;
}
#elif COST == ABSOLUTE_DIFFERENCE || COST == SQUARED_DIFFERENCE
FUNCTION int matching_cost(uint a, uint b, int limit, int factor) {
  int sum = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const int apart = abs((int)(a >> shift & 255u) - (int)(b >> shift & 255u));
    sum += COST == ABSOLUTE_DIFFERENCE ? apart : apart * apart;
  }
  return COST == ABSOLUTE_DIFFERENCE ? min(sum, limit) : (factor * min(sum, limit * limit) + 32768) >> 16;
}
#else
FUNCTION int matching_cost(WORD a, WORD b, int census_weight, int gradient_limit) {
#if COST == RANK
  return abs((int)a - (int)b);
#elif COST == CENSUS && defined(TWO_ULONGS)
  return (int)(popcount(a.x ^ b.x) + popcount(a.y ^ b.y));
#elif COST == CENSUS
  return (int)popcount((WORD)(a ^ b));
#else
  return census_weight * (int)popcount((a ^ b) & 0xFFFFFFu) +
         min((int)abs((int)(a >> 24) - (int)(b >> 24)), gradient_limit);
#endif
}
#endif
