// The sum of learned costs and of census costs with gradient: learned_sum.hpp.
//
// instance any: WORD=uint COST=3
#include "device/gpu/vocabulary.h"
#include "stages/cost/cost.cl.h"
#include "stages/learned_features/learned_features_dots.cl.h"

KERNEL(learned_sum)(ARRAY(const int, left), ARRAY(const int, right), IMAGE(const uint, left_words),
                    IMAGE(const uint, right_words), ARRAY(uchar, sums), int groups, int disparities, int min_disparity,
                    int offset, int scale, int shift, int limit, int census_weight, int gradient_limit, int cost_weight,
                    int plus_weight) {
  LOCAL int own[CHUNK * PIXELS];
  LOCAL int other[CHUNK * (PIXELS + CANDIDATES)];
  const int width = WIDTH(left_words), height = HEIGHT(left_words);
  DOTS_OF_TILE(left, right, width, height, groups, disparities, min_disparity, own, other)
  if (y >= height || first_k + own_k >= disparities) return;
  uint candidates[7];
#pragma unroll
  for (int i = 0; i < 7; ++i)
    candidates[i] = PIXEL(right_words, clamp(first_x + own_x - min_disparity - first_k - own_k + i - 3, 0, width - 1), y);
  const int whole = in_runs(ELEMENTS(sums), disparities);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first_x + own_x + i >= width) continue;
    const uint word = PIXEL(left_words, first_x + own_x + i, y);
    Run run;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int learned = cost_of_dot(dots[i][k], offset, scale, shift, limit);
      const int plus = matching_cost(word, candidates[i - k + 3], census_weight, gradient_limit);
      run.of[k] = (uchar)min((cost_weight * learned + plus_weight * plus + 32) >> 6, 255);
    }
    store_run(ELEMENTS(sums) + (row + first_x + own_x + i) * disparities + first_k + own_k, run,
              disparities - first_k - own_k, whole);
  }
}
