// Selection from a cost volume: wta.hpp. Several work-items share a pixel. Each processes runs of four of its
// candidates.
//
// instance u8: COST=uchar NUMBER=int NO_COST=65535
// instance u16: COST=ushort NUMBER=int NO_COST=65535
// instance f32: COST=float NUMBER=float NO_COST=INFINITY FLOATS=1
#include "device/gpu/vocabulary.h"
#undef ELEMENT
#undef RUN
#define ELEMENT COST
#define RUN 4
#include "device/gpu/run.cl.h"

#define ITEMS 256

#define NO_CANDIDATE 1
#define AMBIGUOUS 4
#define MASKED 16
#define PARABOLA 1
#define EQUIANGULAR 2

FUNCTION float ratio(NUMBER a, NUMBER b) {
#ifdef FLOATS
  return divide(a, b);
#else
  return quotient(a, b);
#endif
}

FUNCTION float subpixel_offset(int kind, NUMBER a, NUMBER b, NUMBER c) {
  if (kind != PARABOLA && kind != EQUIANGULAR) return 0.0f;
  const NUMBER denominator = kind == PARABOLA ? a - 2 * b + c : (a > c ? a : c) - b;
  return denominator == 0 ? 0.0f : ratio(a - c, 2 * denominator);
}

// Returns whether (cost, k) is better than the best candidate so far. In a tie, the first index wins, or the last index
// if `backwards` is set.
FUNCTION int is_better(NUMBER cost, int k, NUMBER lowest, int best, int backwards) {
  if (k < 0) return 0;
  return best < 0 || cost < lowest || (cost == lowest && (k < best) != backwards);
}

#define LANES 4  // number of adjacent work-items that share a pixel of the left view

// `backwards` means that the reference view is the right view, whose range covers −d.
KERNEL(left)(ARRAY(const COST, costs), int disparities, int min_disparity, IMAGE(const uchar, mask_left),
             IMAGE(const uchar, mask_right), IMAGE(float, disparity), IMAGE(uchar, validity),
             IMAGE(float, confidence), int subpixel, int uniqueness, int border_candidates, int backwards) {
  LOCAL NUMBER lowest_of[ITEMS];
  LOCAL NUMBER second_of[ITEMS];
  LOCAL int best_of[ITEMS];
  const int item = local_id(0), lane = item % LANES, width = WIDTH(disparity);
  const int column = group_id(0) * (ITEMS / LANES) + item / LANES;
  // Work-items outside the image repeat its last pixels, because a kernel with barriers must not return early.
  const int x = min(column, width - 1), y = min(group_id(1), HEIGHT(disparity) - 1);
  GLOBAL const COST* cost = ELEMENTS(costs) + ((long)y * width + x) * disparities;
  const int whole = in_runs(ELEMENTS(costs), disparities);
  const int first = border_candidates ? 0 : max(0, x - width + 1 - min_disparity);
  const int last = border_candidates ? disparities - 1 : min(disparities - 1, x - min_disparity);
#define IS_CANDIDATE(k)           \
  ((k) >= first && (k) <= last && \
   (!GIVEN(mask_right) || PIXEL(mask_right, clamp(x - min_disparity - (k), 0, width - 1), y) != 0))

  const int masked = GIVEN(mask_left) && PIXEL(mask_left, x, y) == 0;
  int best = -1;
  NUMBER lowest = NO_COST;
  if (!masked)
    for (int start = lane * RUN; start <= last; start += LANES * RUN) {
      const Run run = load_run(cost + start, disparities - start, whole);
      for (int i = 0; i < RUN; ++i)
        if ((run.of[i] < lowest || (backwards && best >= 0 && run.of[i] == lowest)) && IS_CANDIDATE(start + i)) {
          lowest = run.of[i];
          best = start + i;
        }
    }
  lowest_of[item] = lowest;
  best_of[item] = best;
  BARRIER();
  for (int i = item - lane; i < item - lane + LANES; ++i)
    if (is_better(lowest_of[i], best_of[i], lowest, best, backwards)) {
      lowest = lowest_of[i];
      best = best_of[i];
    }

  int reason = masked ? MASKED : best < 0 ? NO_CANDIDATE : 0;
  NUMBER second = NO_COST;
  if (reason == 0 && (uniqueness > 0 || GIVEN(confidence)))
    for (int start = lane * RUN; start <= last; start += LANES * RUN) {
      const Run run = load_run(cost + start, disparities - start, whole);
      for (int i = 0; i < RUN; ++i)
        if (run.of[i] < second && (start + i < best - 1 || start + i > best + 1) && IS_CANDIDATE(start + i)) second = run.of[i];
    }
  second_of[item] = second;
  BARRIER();
  for (int i = item - lane; i < item - lane + LANES; ++i) second = second_of[i] < second ? second_of[i] : second;
  if (reason == 0 && uniqueness > 0 && second != NO_COST && second * (100 - uniqueness) < lowest * 100) reason = AMBIGUOUS;
  if (lane != 0 || column >= width) return;

  float result = INVALID, trust = 0.0f;
  if (reason == 0) {
    result = (float)(min_disparity + best);
    if (IS_CANDIDATE(best - 1) && IS_CANDIDATE(best + 1) && (NUMBER)cost[best - 1] < NO_COST && (NUMBER)cost[best + 1] < NO_COST)
      result += subpixel_offset(subpixel, cost[best - 1], lowest, cost[best + 1]);
    if (backwards) result = 0.0f - result;
    trust = second == NO_COST || second <= 0 ? 0.0f : 1.0f - ratio(lowest > 0 ? lowest : 0, second);
  }
  PIXEL(disparity, x, y) = result;
  PIXEL(validity, x, y) = (uchar)reason;
  if (GIVEN(confidence)) PIXEL(confidence, x, y) = trust;
}

#define TILE_X 32  // number of right pixels per group
#define TILE_K 32  // number of candidates of these pixels that are processed at a time
#define SHARES (ITEMS / TILE_X)
#define TILE_LEFT (TILE_X + TILE_K - 1)  // number of left pixels to which these candidates belong
#define PITCH (TILE_K + RUN)  // pitch with which adjacent work-items read from different banks

// The candidates of a right pixel lie on a diagonal in a row of the volume. Tiles of the row are copied to local
// memory.
KERNEL(right)(ARRAY(const COST, costs), int disparities, int min_disparity, IMAGE(const uchar, mask_left),
              IMAGE(const uchar, mask_right), IMAGE(float, right)) {
  LOCAL COST tile[TILE_LEFT * PITCH];
  LOCAL NUMBER lowest_of[ITEMS];
  LOCAL int best_of[ITEMS];
  const int item = local_id(0), column = item % TILE_X, share = item / TILE_X, width = WIDTH(right);
  const int first_x = group_id(0) * TILE_X, x_right = first_x + column, y = min(group_id(1), HEIGHT(right) - 1);
  GLOBAL const COST* row = ELEMENTS(costs) + (long)y * width * disparities;
  const int whole = in_runs(ELEMENTS(costs), disparities);
  const int first = max(0, -x_right - min_disparity), last = min(disparities - 1, width - 1 - x_right - min_disparity);
  const int masked = x_right >= width || (GIVEN(mask_right) && PIXEL(mask_right, x_right, y) == 0);
  int best = -1;
  NUMBER lowest = NO_COST;
  for (int first_k = 0; first_k < disparities; first_k += TILE_K) {
    const int first_left = first_x + min_disparity + first_k;
    for (int i = item; i < TILE_LEFT * (TILE_K / RUN); i += ITEMS) {
      const int n = i / (TILE_K / RUN), k = first_k + i % (TILE_K / RUN) * RUN, x = first_left + n;
      if (x < 0 || x >= width || k >= disparities) continue;
      const Run run = load_run(row + (long)x * disparities + k, disparities - k, whole);
      for (int j = 0; j < RUN; ++j) tile[n * PITCH + k - first_k + j] = run.of[j];
    }
    BARRIER();
    for (int i = share; i < TILE_K; i += SHARES) {
      const int k = first_k + i;
      if (masked || k < first || k > last) continue;
      const COST c = tile[(column + i) * PITCH + i];
      if (c < lowest && (!GIVEN(mask_left) || PIXEL(mask_left, first_left + column + i, y) != 0)) {
        lowest = c;
        best = k;
      }
    }
    BARRIER();
  }
  lowest_of[item] = lowest;
  best_of[item] = best;
  BARRIER();
  if (share != 0 || x_right >= width) return;
  for (int i = column; i < ITEMS; i += TILE_X)
    if (is_better(lowest_of[i], best_of[i], lowest, best, 0)) {
      lowest = lowest_of[i];
      best = best_of[i];
    }
  PIXEL(right, x_right, y) = best < 0 ? INVALID : (float)(min_disparity + best);
}
