// Adjustment at depth discontinuities: discontinuity.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define NO_COST 0x7FFFFFFF

// Returns the cost of a disparity, which may be NaN.
FUNCTION int cost_of(GLOBAL const ushort* costs, int disparities, int min_disparity, float disparity) {
  const float k = floor(disparity + 0.5f) - (float)min_disparity;
  return k >= 0.0f && k < (float)disparities ? (int)costs[(int)k] : NO_COST;
}

KERNEL(discontinuity)(ARRAY(const ushort, costs), IMAGE(const float, disparity), IMAGE(float, adjusted), int disparities,
                      int min_disparity, float edge) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const float here = PIXEL(disparity, x, y);
  const float left = PIXEL(disparity, max(x - 1, 0), y), right = PIXEL(disparity, min(x + 1, width - 1), y);
  float best = here;
  if (fabs(left - here) > edge || fabs(right - here) > edge) {
    GLOBAL const ushort* at = ELEMENTS(costs) + ((long)y * width + x) * disparities;
    int lowest = cost_of(at, disparities, min_disparity, here);
    const int left_cost = x > 0 ? cost_of(at - disparities, disparities, min_disparity, left) : NO_COST;
    if (left_cost < lowest) {
      lowest = left_cost;
      best = left;
    }
    if (x + 1 < width && cost_of(at + disparities, disparities, min_disparity, right) < lowest) best = right;
  }
  PIXEL(adjusted, x, y) = best;
}
