// The matching cost of two feature words, as cost.hpp defines it: COST is RANK, CENSUS or CENSUS_GRADIENT. An
// instance of a kernel includes it with its own WORD, hence no guard.
#define RANK 1
#define CENSUS 2
#define CENSUS_GRADIENT 3

FUNCTION int matching_cost(WORD a, WORD b, int census_weight, int gradient_limit) {
#if COST == RANK
  return abs((int)a - (int)b);
#elif COST == CENSUS
  return (int)popcount((WORD)(a ^ b));
#else
  return census_weight * (int)popcount((a ^ b) & 0xFFFFFFu) +
         min((int)abs((int)(a >> 24) - (int)(b >> 24)), gradient_limit);
#endif
}
