// The matching cost of two feature words, as cost.hpp defines it: COST is RANK, CENSUS or CENSUS_GRADIENT. An
// instance of a kernel includes it with its own WORD, hence no guard. COLOUR_GRADIENT takes more: see below.
#define RANK 1
#define CENSUS 2
#define CENSUS_GRADIENT 3
#define COLOUR_GRADIENT 4

#if COST == COLOUR_GRADIENT
FUNCTION int byte_difference(ulong a, ulong b, int shift) { return abs((int)(a >> shift & 255) - (int)(b >> shift & 255)); }

FUNCTION int matching_cost(ulong a, ulong b, int colour_factor, int gradient_factor, int colour_limit, int gradient_limit) {
  const int colours = byte_difference(a, b, 0) + byte_difference(a, b, 8) + byte_difference(a, b, 16);
  const int gradient = abs((int)(a >> 32) - (int)(b >> 32));
  return (colour_factor * min(colours, colour_limit) + gradient_factor * min(gradient, gradient_limit) + 32768) >> 16;
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
