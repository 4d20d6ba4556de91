// Refines a guess on the next finer level of a pyramid: pyramid.hpp.
//
// instance any: FIXED_RADIUS=0
// instance r1: FIXED_RADIUS=1
// instance r2: FIXED_RADIUS=2
// instance r3: FIXED_RADIUS=3
#include "device/gpu/vocabulary.h"
#include "stages/shared/window_sum.cl.h"

#define NO_CANDIDATE 1
#define MASKED 16
#define PARABOLA 1
#define EQUIANGULAR 2

FUNCTION float subpixel_offset(int kind, int a, int b, int c) {
  const int denominator = kind == PARABOLA ? a - 2 * b + c : max(a, c) - b;
  return denominator == 0 || b > a || b > c ? 0.0f : quotient(a - c, 2 * denominator);
}

KERNEL(refine)(IMAGE(const uint, reference), IMAGE(const uint, other), int direction, IMAGE(const uchar, mask_reference),
               IMAGE(const uchar, mask_other), int lowest, int highest, IMAGE(const float, guess), int range, int keep,
               int radius_x, int radius_y, int subpixel, int border_candidates, IMAGE(float, disparity),
               IMAGE(uchar, validity), IMAGE(float, confidence)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
#define IS_CANDIDATE(d)                                                                                       \
  ((d) >= lowest && (d) <= highest &&                                                                         \
   (border_candidates || (x + direction * (d) >= 0 && x + direction * (d) < width)) &&                        \
   (!GIVEN(mask_other) || PIXEL(mask_other, clamp(x + direction * (d), 0, width - 1), y) != 0))
#define SUM(d) window_sum(reference, reference_layout, other, other_layout, RADIUS_X, RADIUS_Y, x, y, direction * (d))

  float result = INVALID, trust = 0.0f;
  int reason = MASKED;
  if (!GIVEN(mask_reference) || PIXEL(mask_reference, x, y) != 0) {
    const float above = PIXEL(guess, x / 2, y / 2);
    const int g = above == above ? clamp(2 * (int)above, lowest, highest) : 0;
    int best = 0, best_sum = -1, second = 0, second_sum = -1;
    const int first = g - (range - 1) / 2, last = g + range / 2;
    if (above == above)
      for (int block = first; block <= last; block += 4) {
        int sums[4];
        const int shift = direction < 0 ? -(block + 3) : block;
        const int together = window_is_inside(width, RADIUS_X, x, shift, shift + 3);
        if (together)
          window_sums_of_4(reference, reference_layout, other, other_layout, RADIUS_X, RADIUS_Y, x, y, shift, sums);
        for (int i = 0; i < 4; ++i) {
          const int d = block + i;
          if (d > last || !IS_CANDIDATE(d)) continue;
          const int sum = !together ? SUM(d) : direction < 0 ? sums[3 - i] : sums[i];
          if (best_sum < 0 || sum < best_sum) {
            second = best;
            second_sum = best_sum;
            best = d;
            best_sum = sum;
          } else if (second_sum < 0 || sum < second_sum) {
            second = d;
            second_sum = sum;
          }
        }
      }
    reason = best_sum < 0 ? NO_CANDIDATE : 0;
    if (reason == 0) {
      trust = second_sum <= 0 ? 0.0f : 1.0f - quotient(best_sum, second_sum);
      const long least = (long)keep * WINDOW_AREA * abs(second - best);
      if (second_sum >= 0 && 256 * (long)(second_sum - best_sum) < least && IS_CANDIDATE(g)) best = g;
      result = (float)best;
      if (subpixel != 0 && IS_CANDIDATE(best - 1) && IS_CANDIDATE(best + 1))
        result += subpixel_offset(subpixel, SUM(best - 1), SUM(best), SUM(best + 1));
    }
  }
  PIXEL(disparity, x, y) = result;
  if (GIVEN(validity)) PIXEL(validity, x, y) = (uchar)reason;
  if (GIVEN(confidence)) PIXEL(confidence, x, y) = trust;
}
