// Semi-global matching from a cost volume on devices that run one work-item at a time, such as CPUs: the kernels of
// sgm_volume.cl with vectors of 16 disparities. CUDA devices do not run them.
//
// instance u8: COST=uchar SLOT=uchar
// instance u8_u16: COST=uchar SLOT=ushort
// instance u16: COST=ushort SLOT=ushort
#include "device/gpu/vocabulary.h"
#include "stages/sgm/sgm_volume.cl.h"

#ifndef __CUDACC__
#define NARROW 1024
#define FOLLOWED 8  // number of lines that a work-item follows at the same time

// The number of slots of a pixel.
FUNCTION long slot_pitch(int disparities) { return (disparities + 15) / 16 * 16; }

#define CONVERT_(type) convert_##type##16
#define CONVERT(type) CONVERT_(type)

// Loads 16 costs, of which `count` exist. `whole` means that all 16 are in memory.
FUNCTION ushort16 load_costs(GLOBAL const COST* cost, int count, int whole) {
  if (whole || count >= 16) return convert_ushort16(vload16(0, cost));
  ushort of[16];
  for (int i = 0; i < 16; ++i) of[i] = i < count ? cost[i] : 0;
  return vload16(0, of);
}

// Computes the path costs `path` of a pixel from those of its predecessor, `last`. Disparity k has index k + 1. `tail` is
// BEYOND for disparities of the last 16 that do not exist, and 0 for others. Returns the minimum of the path costs.
FUNCTION ushort follow(GLOBAL const COST* restrict cost, GLOBAL SLOT* restrict slot, const ushort* restrict last,
                       ushort* restrict path, int disparities, int whole, int back, ushort16 tail, ushort most, ushort p1,
                       ushort base, ushort jump) {
  const ushort16 limit = (ushort16)((ushort)(base + jump));
  ushort16 lowest = (ushort16)((ushort)BEYOND);
  for (int k = 0; k < disparities; k += 16) {
    const ushort16 beside = min(vload16(0, last + k), vload16(0, last + k + 2)) + p1;
    const ushort16 rest = min(min(vload16(0, last + k + 1), beside), limit) - base;
    ushort16 here = rest + min(load_costs(cost + k, disparities - k, whole), (ushort16)most);
    if (k + 16 > disparities) here = max(here, tail);
    vstore16(here, 0, path + k + 1);
    lowest = min(lowest, here);
    ushort16 sum = rest;
    if (back) sum += convert_ushort16(vload16(0, slot + k));
    vstore16(CONVERT(SLOT)(sum), 0, slot + k);
  }
  const ushort8 eight = min(lowest.lo, lowest.hi);
  const ushort4 four = min(eight.lo, eight.hi);
  const ushort2 two = min(four.lo, four.hi);
  return min(two.x, two.y);
}

// Does the same as `pairs` with one work-item for FOLLOWED adjacent lines.
KERNEL(lines)(ARRAY(const COST, costs), int cost_pitch, IMAGE(const uchar, guide), IMAGE(const ushort, above),
              IMAGE(const ushort, below), ARRAY(uint, slots), int width, int height, int disparities, int max_cost,
              int p1, int p2, int p2_min, int gradient) {
  const int pair = group_id(1), dx = pair == 3 ? -1 : pair != 1, dy = pair != 0;
  const int lines = dy ? width : height, steps = dy ? height : width, first_line = group_id(0) * FOLLOWED;
  const int followed = min(FOLLOWED, lines - first_line);
  const long pitch = slot_pitch(disparities);
  GLOBAL SLOT* slot = (GLOBAL SLOT*)ELEMENTS(slots) + pair * pitch * width * height;
  const int whole = cost_pitch % 16 == 0, padded = (int)pitch;
  ushort state[2][FOLLOWED][NARROW + 2], tail[16], base[FOLLOWED], jumps[256];
  int column[FOLLOWED], starts[FOLLOWED];
  for (int i = 0; i < 16; ++i) tail[i] = padded - 16 + i < disparities ? 0 : BEYOND;
  if (GIVEN(guide))
    for (int i = 0; i < 256; ++i) jumps[i] = (ushort)penalty(i, p2, p2_min, gradient);

  for (int back = 0; back < 2; ++back) {
    const int step_x = back ? -dx : dx, step_y = back ? -dy : dy;
    for (int i = 0; i < followed; ++i) {
      const int line = first_line + i;
      int x = dy ? line : 0;
      if (back) x = (x + dx * (steps - 1)) % width;
      if (x < 0) x += width;
      GLOBAL const ushort* entering = !dy    ? 0
                                      : back ? costs_before(below, below_layout, x - step_x, width, disparities, step_x)
                                             : costs_before(above, above_layout, x - step_x, width, disparities, step_x);
      for (int k = 0; k < padded + 2; ++k) state[0][i][k] = state[1][i][k] = BEYOND;
      for (int k = 0; k < disparities; ++k) state[0][i][k + 1] = entering != 0 ? entering[k] : 0;
      base[i] = 0;
      column[i] = x;
      starts[i] = entering == 0;
    }
    for (int n = 0; n < steps; ++n)
      for (int i = 0; i < followed; ++i) {
        const int x = column[i], y = dy ? (back ? height - 1 - n : n) : first_line + i;
        int jump = p2;
        if (starts[i])
          jump = 0;
        else if (GIVEN(guide))
          jump = jumps[(int)abs(PIXEL(guide, x, y) - PIXEL(guide, x - step_x, y - step_y))];
        const long pixel = (long)y * width + x;
        base[i] = follow(ELEMENTS(costs) + pixel * cost_pitch, slot + pixel * pitch, state[n % 2][i], state[1 - n % 2][i],
                         disparities, whole, back, vload16(0, tail), (ushort)max_cost, (ushort)p1, base[i], (ushort)jump);
        column[i] += step_x;
        starts[i] = dy && (column[i] == width || column[i] < 0);
        if (column[i] == width) column[i] = 0;
        if (column[i] < 0) column[i] = width - 1;
      }
  }
}

// Does the same as `sum` with one work-item per row.
KERNEL(sum_row)(ARRAY(const COST, costs), int cost_pitch, ARRAY(const uint, slots), ARRAY(ushort, sums), int width,
                int height, int disparities, int max_cost, int paths) {
  const long pitch = slot_pitch(disparities), cells = pitch * width * height;
  for (int x = 0; x < width; ++x) {
    const long pixel = (long)group_id(0) * width + x;
    GLOBAL const COST* restrict cost = ELEMENTS(costs) + pixel * cost_pitch;
    GLOBAL const SLOT* restrict slot = (GLOBAL const SLOT*)ELEMENTS(slots) + pixel * pitch;
    GLOBAL ushort* restrict sum = ELEMENTS(sums) + pixel * disparities;
    if (paths == 4)
      for (int k = 0; k < disparities; ++k)
        sum[k] = (ushort)((ushort)(4 * min((ushort)cost[k], (ushort)max_cost)) + slot[k] + slot[cells + k]);
    else
      for (int k = 0; k < disparities; ++k)
        sum[k] = (ushort)((ushort)(8 * min((ushort)cost[k], (ushort)max_cost)) + slot[k] + slot[cells + k] +
                          slot[2 * cells + k] + slot[3 * cells + k]);
  }
}
#endif
