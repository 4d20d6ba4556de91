// Adaptive support weights in two passes: asw_separable.hpp. A work-item for each cell of a row.
//
// instance horizontal: CELL=uchar UNIT=128 VERTICAL=0
// instance vertical: CELL=ushort UNIT=1 VERTICAL=1
#include "device/gpu/vocabulary.h"
#include "stages/support_weight/support_weight.cl.h"

// The weights of a pixel, window bytes from (y · width + x) · window on.
KERNEL(weights)(IMAGE(const uint, lab), ARRAY(uchar, weights), Weights table, int radius, int colour_scale, int distance_scale) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(lab) || y >= HEIGHT(lab)) return;
  const uint p = PIXEL(lab, x, y);
  GLOBAL uchar* out = ELEMENTS(weights) + ((long)y * WIDTH(lab) + x) * (2 * radius + 1) + radius;
  for (int i = -radius; i <= radius; ++i) {
    const int distance_part = min(1 << 24, distance_scale * (int)(4 * abs(i)));
    const uint q = VERTICAL ? PIXEL(lab, x, clamp(y + i, 0, HEIGHT(lab) - 1)) : PIXEL(lab, clamp(x + i, 0, WIDTH(lab) - 1), y);
    out[i] = (uchar)in_8_bits(table.of[exponent(colour_scale, colour_distance(p, q), distance_part)]);
  }
}

KERNEL(average)(IMAGE(const uint, lab), ARRAY(const uchar, weights), ARRAY(const CELL, costs), ARRAY(ushort, averages), int disparities,
                int radius) {
  const int cell = global_id(0), y = global_id(1), x = cell / disparities, k = cell % disparities;
  if (x >= WIDTH(lab) || y >= HEIGHT(lab)) return;
  const long pitch = (long)WIDTH(lab) * disparities;
  GLOBAL const uchar* weight = ELEMENTS(weights) + ((long)y * WIDTH(lab) + x) * (2 * radius + 1) + radius;
  uint sum = 0, total = 0;
  for (int i = -radius; i <= radius; ++i) {
    const int neighbour_x = VERTICAL ? x : clamp(x + i, 0, WIDTH(lab) - 1), neighbour_y = VERTICAL ? clamp(y + i, 0, HEIGHT(lab) - 1) : y;
    sum += weight[i] * (UNIT * (uint)ELEMENTS(costs)[neighbour_y * pitch + (long)neighbour_x * disparities + k]);
    total += weight[i];
  }
  ELEMENTS(averages)[y * pitch + cell] = (ushort)((sum + total / 2u) / total);
}
