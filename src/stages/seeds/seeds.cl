// The term of seeds: seeds.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"
#define ELEMENT uchar
#define RUN 8
#include "device/gpu/run.cl.h"
#undef ELEMENT
#undef RUN
#define TERM_WIDTH 64
#define MOST_SUM 210

FUNCTION int product_of(uint seed, int weight) { return weight * (int)(seed & 255); }

// Adds the term of a seed to 8 candidates of a pixel.
FUNCTION void add_term(Run* run, uint seed, int weight, int first) {
  const int product = product_of(seed, weight), value = (int)(seed >> 8);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int distance = abs(16 * (first + i) - value);
    const int cost = run->of[i], term = product * min(distance, TERM_WIDTH) / 16384;
    run->of[i] = (uchar)max(cost, min(cost + term, MOST_SUM));
  }
}

// Adds the terms to 8 candidates of a pixel.
KERNEL(seeds)(IMAGE(const uint, prior), IMAGE(const uint, further), ARRAY(uchar, costs), int disparities, int runs,
              int weight) {
  const int item = global_id(0), y = global_id(1), x = item / runs, first = item % runs * 8;
  if (x >= WIDTH(prior) || y >= HEIGHT(prior)) return;
  const uint seed = PIXEL(prior, x, y), second = GIVEN(further) ? PIXEL(further, x, y) : 0u;
  if (max(product_of(seed, weight), product_of(second, weight)) * TERM_WIDTH < 16384) return;
  GLOBAL uchar* at = ELEMENTS(costs) + ((long)y * WIDTH(prior) + x) * disparities + first;
  const int count = disparities - first, whole = in_runs(ELEMENTS(costs), disparities);
  Run run = load_run(at, count, whole);
  add_term(&run, seed, weight, first);
  add_term(&run, second, weight, first);
  store_run(at, run, count, whole);
}
