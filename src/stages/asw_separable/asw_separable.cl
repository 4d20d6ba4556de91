// Adaptive support weights in two passes: asw_separable.hpp.
//
// instance horizontal: CELL=uchar UNIT=128 VERTICAL=0
// instance vertical: CELL=ushort UNIT=1 VERTICAL=1
#include "device/gpu/vocabulary.h"
#include "stages/support_weight/support_weight.cl.h"
#undef ELEMENT
#undef RUN
#define ELEMENT CELL
#define RUN 8
#include "device/gpu/run.cl.h"

// Computes the weights of a pixel: `window` bytes from (y · width + x) · window on.
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

FUNCTION void store_averages(GLOBAL ushort* to, const ushort* averages, int count, int whole) {
  if (!whole) {
    for (int j = 0; j < min(count, RUN); ++j) to[j] = averages[j];
    return;
  }
  for (int j = 0; j < RUN; j += 4)
    *(GLOBAL ulong*)(to + j) = (ulong)averages[j] | (ulong)averages[j + 1] << 16 | (ulong)averages[j + 2] << 32 | (ulong)averages[j + 3] << 48;
}

// Averages RUN disparities of one pixel per work-item.
KERNEL(average)(IMAGE(const uint, lab), ARRAY(const uchar, weights), ARRAY(const CELL, costs), ARRAY(ushort, averages), int disparities,
                int radius) {
  const int runs = (disparities + RUN - 1) / RUN, width = WIDTH(lab), height = HEIGHT(lab);
  const int x = global_id(0) / runs, y = global_id(1), k = global_id(0) % runs * RUN, count = disparities - k;
  if (x >= width || y >= height) return;
  const int whole = in_runs(ELEMENTS(costs), disparities);
  GLOBAL const uchar* weight = ELEMENTS(weights) + ((long)y * width + x) * (2 * radius + 1) + radius;
  uint sum[RUN], total = 0;
  for (int j = 0; j < RUN; ++j) sum[j] = 0;
  for (int i = -radius; i <= radius; ++i) {
    const int neighbour_x = VERTICAL ? x : clamp(x + i, 0, width - 1), neighbour_y = VERTICAL ? clamp(y + i, 0, height - 1) : y;
    const Run run = load_run(ELEMENTS(costs) + ((long)neighbour_y * width + neighbour_x) * disparities + k, count, whole);
    for (int j = 0; j < RUN; ++j) sum[j] += weight[i] * (UNIT * (uint)run.of[j]);
    total += weight[i];
  }
  ushort average[RUN];
  for (int j = 0; j < RUN; ++j) average[j] = (ushort)((sum[j] + total / 2u) / total);
  GLOBAL ushort* to = ELEMENTS(averages) + ((long)y * width + x) * disparities + k;
  store_averages(to, average, count, disparities % RUN == 0 && (ulong)to % (2 * RUN) == 0);
}
