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

// Adds the term to 8 candidates of a pixel.
KERNEL(seeds)(IMAGE(const uint, prior), ARRAY(uchar, costs), int disparities, int runs, int weight) {
  const int item = global_id(0), y = global_id(1), x = item / runs, first = item % runs * 8;
  if (x >= WIDTH(prior) || y >= HEIGHT(prior)) return;
  const uint seed = PIXEL(prior, x, y);
  const int product = weight * (int)(seed & 255), value = (int)(seed >> 8);
  if (product * TERM_WIDTH < 16384) return;
  GLOBAL uchar* at = ELEMENTS(costs) + ((long)y * WIDTH(prior) + x) * disparities + first;
  const int count = disparities - first, whole = in_runs(ELEMENTS(costs), disparities);
  Run run = load_run(at, count, whole);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int distance = abs(16 * (first + i) - value);
    const int cost = run.of[i], term = product * min(distance, TERM_WIDTH) / 16384;
    run.of[i] = (uchar)max(cost, min(cost + term, MOST_SUM));
  }
  store_run(at, run, count, whole);
}
