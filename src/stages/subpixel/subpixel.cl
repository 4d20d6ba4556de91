// Sub-pixel enhancement: subpixel.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(subpixel)(ARRAY(const ushort, costs), IMAGE(float, disparity), int disparities, int min_disparity) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const float whole = floor(PIXEL(disparity, x, y) + 0.5f), index = whole - (float)min_disparity;
  if (!(index >= 1.0f && index + 1.0f < (float)disparities)) return;
  GLOBAL const ushort* at = ELEMENTS(costs) + ((long)y * width + x) * disparities + (int)index;
  const int below = at[-1] - at[0], above = at[1] - at[0];
  if (below < 0 || above < 0 || below + above == 0) return;
  PIXEL(disparity, x, y) = whole - quotient(above - below, 2 * (below + above));
}
