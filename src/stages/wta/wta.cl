// Selection from a volume of costs: wta.hpp. A work-item for each pixel.
//
// instance u8: COST=uchar NUMBER=int NO_COST=65535
// instance u16: COST=ushort NUMBER=int NO_COST=65535
// instance f32: COST=float NUMBER=float NO_COST=INFINITY FLOATS=1
#include "device/gpu/vocabulary.h"

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

// `backwards`: the reference is the right view, whose range runs over −d.
KERNEL(left)(ARRAY(const COST, costs), int disparities, int min_disparity, IMAGE(const uchar, mask_left),
             IMAGE(const uchar, mask_right), IMAGE(float, disparity), IMAGE(uchar, validity),
             IMAGE(float, confidence), int subpixel, int uniqueness, int border_candidates, int backwards) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  GLOBAL const COST* cost = ELEMENTS(costs) + ((long)y * width + x) * disparities;
  const int first = border_candidates ? 0 : max(0, x - width + 1 - min_disparity);
  const int last = border_candidates ? disparities - 1 : min(disparities - 1, x - min_disparity);
#define IS_CANDIDATE(k)           \
  ((k) >= first && (k) <= last && \
   (!GIVEN(mask_right) || PIXEL(mask_right, clamp(x - min_disparity - (k), 0, width - 1), y) != 0))

  const int masked = GIVEN(mask_left) && PIXEL(mask_left, x, y) == 0;
  int best = -1;
  NUMBER lowest = NO_COST;
  if (!masked)
    for (int k = first; k <= last; ++k) {
      const NUMBER c = cost[k];
      if ((c < lowest || (backwards && best >= 0 && c == lowest)) && IS_CANDIDATE(k)) {
        lowest = c;
        best = k;
      }
    }

  int reason = masked ? MASKED : best < 0 ? NO_CANDIDATE : 0;
  NUMBER second = NO_COST;
  if (reason == 0 && (uniqueness > 0 || GIVEN(confidence))) {
    for (int k = first; k <= last; ++k) {
      const NUMBER c = cost[k];
      if (c < second && (k < best - 1 || k > best + 1) && IS_CANDIDATE(k)) second = c;
    }
    if (uniqueness > 0 && second != NO_COST && second * (100 - uniqueness) < lowest * 100) reason = AMBIGUOUS;
  }

  float result = INVALID, trust = 0.0f;
  if (reason == 0) {
    result = (float)(min_disparity + best);
    if (IS_CANDIDATE(best - 1) && IS_CANDIDATE(best + 1) && cost[best - 1] < NO_COST && cost[best + 1] < NO_COST)
      result += subpixel_offset(subpixel, cost[best - 1], lowest, cost[best + 1]);
    if (backwards) result = 0.0f - result;
    trust = second == NO_COST ? 1.0f : second <= 0 ? 0.0f : 1.0f - ratio(lowest > 0 ? lowest : 0, second);
  }
  PIXEL(disparity, x, y) = result;
  PIXEL(validity, x, y) = (uchar)reason;
  if (GIVEN(confidence)) PIXEL(confidence, x, y) = trust;
}

KERNEL(right)(ARRAY(const COST, costs), int disparities, int min_disparity, IMAGE(const uchar, mask_left),
              IMAGE(const uchar, mask_right), IMAGE(float, right)) {
  const int x_right = global_id(0), y = global_id(1), width = WIDTH(right);
  if (x_right >= width || y >= HEIGHT(right)) return;
  GLOBAL const COST* row = ELEMENTS(costs) + (long)y * width * disparities;
  const int first = max(0, -x_right - min_disparity),
            last = min(disparities - 1, width - 1 - x_right - min_disparity);
  int best = -1;
  NUMBER lowest = NO_COST;
  if (!GIVEN(mask_right) || PIXEL(mask_right, x_right, y) != 0)
    for (int k = first; k <= last; ++k) {
      const int x = x_right + min_disparity + k;
      const NUMBER c = row[(long)x * disparities + k];
      if (c < lowest && (!GIVEN(mask_left) || PIXEL(mask_left, x, y) != 0)) {
        lowest = c;
        best = k;
      }
    }
  PIXEL(right, x_right, y) = best < 0 ? INVALID : (float)(min_disparity + best);
}
