// The sum of two costs: sum.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"
#define ELEMENT uchar
#define RUN 8
#include "device/gpu/run.cl.h"
#undef ELEMENT
#undef RUN

// Adds the costs of several cells of a row.
KERNEL(sum)(ARRAY(const uchar, costs), ARRAY(uchar, sums), int cells, int rows, int cost_weight, int plus_weight) {
  const int first = global_id(0) * 8, y = global_id(1);
  if (first >= cells || y >= rows) return;
  const long at = (long)y * cells + first;
  const int count = cells - first;
  const Run of_costs = load_run(ELEMENTS(costs) + at, count, in_runs(ELEMENTS(costs), cells));
  const int whole = in_runs(ELEMENTS(sums), cells);
  Run run = load_run(ELEMENTS(sums) + at, count, whole);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    run.of[i] = (uchar)min((cost_weight * of_costs.of[i] + plus_weight * run.of[i] + 32) >> 6, 255);
  store_run(ELEMENTS(sums) + at, run, count, whole);
}
