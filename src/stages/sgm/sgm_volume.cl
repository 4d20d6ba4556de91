// Semi-global matching from a cost volume: sgm.hpp. A launch processes one direction, and adds the path costs to the
// sums.
//
// A group of 32 work-items walks along one path. A work-item has FOURS times four adjacent disparities, in pairs of
// 16-bit lanes. The work-item keeps the path costs at the previous pixel, minus their minimum, so that equation 4 takes
// seven instructions for two disparities. Loads of the costs and sums of AHEAD pixels are in flight while the previous
// pixels are processed.
//
// If vectors of 32 work-items run in lockstep, memory traffic takes most of the time. The traffic is 5 bytes per cell
// and path with 8-bit costs, or 38 bytes per cell for 8 paths, of which 3 are unavoidable.
//
// instance u8_1: COST=uchar FOUR_COSTS=uint FOURS=1 AHEAD=4
// instance u8_2: COST=uchar FOUR_COSTS=uint FOURS=2 AHEAD=2
// instance u8_4: COST=uchar FOUR_COSTS=uint FOURS=4 AHEAD=1
// instance u8_8: COST=uchar FOUR_COSTS=uint FOURS=8 AHEAD=1
// instance u16_1: COST=ushort FOUR_COSTS=ulong FOURS=1 AHEAD=4
// instance u16_2: COST=ushort FOUR_COSTS=ulong FOURS=2 AHEAD=2
// instance u16_4: COST=ushort FOUR_COSTS=ulong FOURS=4 AHEAD=1
// instance u16_8: COST=ushort FOUR_COSTS=ulong FOURS=8 AHEAD=1
#include "device/gpu/vocabulary.h"

// Value for disparities before the first and after the last one. The value is larger than any path cost, and has 16
// bits even with a penalty added.
#define BEYOND 0xA000u
#undef PAIRS
#define PAIRS (2 * FOURS)
#define TWICE(v) ((uint)(v) * 65537u)

FUNCTION uint min_of_pairs(uint a, uint b) {
#ifdef __CUDA_ARCH__
  return __vminu2(a, b);
#elif defined(__CUDACC__)
  return 0;  // this is the host pass of the compiler, whose code never runs
#else
  return as_uint(min(as_ushort2(a), as_ushort2(b)));
#endif
}

// Return the start of a line. Lines start in the row that all lines cross, if there is such a row. The remaining lines
// start in the first or last column.
FUNCTION int first_x(int line, int width, int dx, int dy) {
  return dy != 0 && line < width ? line : dx > 0 ? 0 : width - 1;
}
FUNCTION int first_y(int line, int width, int height, int dy) {
  if (dy == 0) return line;
  const int entry = dy > 0 ? 0 : height - 1;
  return line < width ? entry : entry + dy * (line - width + 1);
}
// Returns the number of pixels that remain on a path along one axis.
FUNCTION int steps_along(int from, int size, int step) { return step == 0 ? 1 << 30 : step > 0 ? size - from : from + 1; }

// Returns the path costs in the row outside the stripe, from which the path costs of a line's first pixel follow. Returns null if
// there are none or the position is outside the image.
FUNCTION GLOBAL const ushort* costs_before(IMAGE(const ushort, edge), int line, int width, int disparities, int dx, int dy) {
  const int x = line - dx;
  if (!GIVEN(edge) || dy == 0 || line >= width || x < 0 || x >= width) return 0;
  return &PIXEL(edge, 0, (dx + 3) % 3) + (long)x * disparities;
}

FUNCTION int penalty(int difference, int p2, int p2_min, int gradient) {
  return max(p2_min, min(p2, p2 * gradient / max(1, difference)));
}

// Loads four adjacent cells. Cells that do not exist are 0.
FUNCTION ulong read_four_sums(GLOBAL const ushort* cells, int count, int fours) {
  if (count <= 0) return 0;
  if (fours) return *(GLOBAL const ulong*)cells;
  ulong all = 0;
  for (int i = 0; i < min(count, 4); ++i) all |= (ulong)cells[i] << 16 * i;
  return all;
}
FUNCTION FOUR_COSTS read_four_costs(GLOBAL const COST* cells, int count, int fours) {
  if (count <= 0) return 0;
  if (fours) return *(GLOBAL const FOUR_COSTS*)cells;
  FOUR_COSTS all = 0;
  for (int i = 0; i < min(count, 4); ++i) all |= (FOUR_COSTS)cells[i] << 8 * (int)sizeof(COST) * i;
  return all;
}
FUNCTION void write_four_sums(GLOBAL ushort* cells, int count, int fours, uint low, uint high) {
  const ulong all = (ulong)high << 32 | low;
  if (count <= 0) return;
  if (fours)
    *(GLOBAL ulong*)cells = all;
  else
    for (int i = 0; i < min(count, 4); ++i) cells[i] = (ushort)(all >> 16 * i);
}
// Returns pair 0 or 1 of four costs.
FUNCTION uint pair_of(FOUR_COSTS costs, int pair) {
  if (sizeof(COST) == 2) return (uint)((ulong)costs >> 32 * pair);
  const uint two = (uint)costs >> 16 * pair;
  return (two & 0xFFu) | (two & 0xFF00u) << 8;
}

// `edge` is the boundary state from which the paths of the direction continue (EdgesOf in sgm.hpp).
KERNEL(paths)(ARRAY(const COST, costs), IMAGE(const uchar, guide), IMAGE(const ushort, edge), ARRAY(ushort, sums), int width,
              int height, int disparities, int dx, int dy, int add, int max_cost, int p1, int p2, int p2_min, int gradient) {
#ifndef __CUDACC__
  LOCAL uint firsts[2 * 32], lasts[2 * 32], minima[2 * 32];
#endif
  const int item = local_id(0), line = group_id(0);
  const int x = first_x(line, width, dx, dy), y = first_y(line, width, height, dy);
  const int steps = min(steps_along(x, width, dx), steps_along(y, height, dy));
  const int first = item * 4 * FOURS, fours = disparities % 4 == 0;
  const long start = ((long)y * width + x) * disparities + first, stride = ((long)dy * width + dx) * disparities;
  GLOBAL const COST* cost = ELEMENTS(costs) + start;
  GLOBAL ushort* sum = ELEMENTS(sums) + start;
  const uint step_penalty = TWICE(p1), most = TWICE(max_cost);

  // The path costs, the values beyond the disparities, and the loads in flight.
  uint path[PAIRS], beyond[PAIRS];
  FOUR_COSTS next_costs[AHEAD][FOURS];
  ulong next_sums[AHEAD][FOURS];
  uchar next_grey[AHEAD];
  for (int i = 0; i < PAIRS; ++i) {
    path[i] = 0;
    beyond[i] = (first + 2 * i < disparities ? 0 : BEYOND) | (first + 2 * i + 1 < disparities ? 0 : BEYOND << 16);
  }
  uint before = item == 0 ? TWICE(BEYOND) : 0, behind = item == 31 ? TWICE(BEYOND) : 0;
#define FETCH(slot, n)                                                                                  \
  if ((n) < steps) {                                                                                    \
    for (int f = 0; f < FOURS; ++f) {                                                                   \
      const int left = disparities - first - 4 * f;                                                     \
      next_costs[slot][f] = read_four_costs(cost + (n) * stride + 4 * f, left, fours);                  \
      next_sums[slot][f] = add ? read_four_sums(sum + (n) * stride + 4 * f, left, fours) : 0;           \
    }                                                                                                   \
    next_grey[slot] = GIVEN(guide) ? PIXEL(guide, x + (n) * dx, y + (n) * dy) : 0;                      \
  }
#pragma unroll
  for (int slot = 0; slot < AHEAD; ++slot) { FETCH(slot, slot) }

  GLOBAL const ushort* entering = costs_before(edge, edge_layout, line, width, disparities, dx, dy);
  int grey = 0;
  if (entering != 0) {
    const int end = first + 2 * PAIRS;
    for (int i = 0; i < 2 * PAIRS; ++i)
      path[i / 2] |= (first + i < disparities ? (uint)entering[first + i] : BEYOND) << 16 * (i % 2);
    if (item > 0 && first <= disparities) before = (uint)entering[first - 1] << 16;
    behind = end < disparities ? (uint)entering[end] : TWICE(BEYOND);
    if (GIVEN(guide)) grey = PIXEL(guide, x - dx, y - dy);
  }
  for (int n = 0; n < steps; n += AHEAD) {
#pragma unroll
    for (int slot = 0; slot < AHEAD; ++slot) {
      if (n + slot >= steps) break;
      FOUR_COSTS four_costs[FOURS];
      ulong four_sums[FOURS];
      for (int f = 0; f < FOURS; ++f) {
        four_costs[f] = next_costs[slot][f];
        four_sums[f] = next_sums[slot][f];
      }
      const int here = next_grey[slot];
      FETCH(slot, n + slot + AHEAD)
      const uint jump = TWICE(GIVEN(guide) ? penalty((int)abs(here - grey), p2, p2_min, gradient) : p2);
      grey = here;

      uint lowest = TWICE(BEYOND), previous = before;
      for (int i = 0; i < PAIRS; ++i) {
        const uint same = path[i], next = i + 1 < PAIRS ? path[i + 1] : behind;
        const uint lower = same << 16 | previous >> 16, upper = same >> 16 | next << 16;
        const uint best = min_of_pairs(min_of_pairs(same, min_of_pairs(lower, upper) + step_penalty), jump);
        path[i] = best + (min_of_pairs(pair_of(four_costs[i / 2], i % 2), most) | beyond[i]);
        lowest = min_of_pairs(lowest, path[i]);
        previous = same;
      }
      GLOBAL ushort* out = sum + (n + slot) * stride;
      for (int f = 0; f < FOURS; ++f)
        write_four_sums(out + 4 * f, disparities - first - 4 * f, fours, (uint)four_sums[f] + path[2 * f],
                        (uint)(four_sums[f] >> 32) + path[2 * f + 1]);

      lowest = min(lowest & 0xFFFFu, lowest >> 16);
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
      const uint base = TWICE(__reduce_min_sync(~0u, lowest));
#else
      for (int lanes = 16; lanes > 0; lanes /= 2) lowest = min(lowest, __shfl_xor_sync(~0u, lowest, lanes));
      const uint base = TWICE(lowest);
#endif
      for (int i = 0; i < PAIRS; ++i) path[i] -= base;
      before = __shfl_up_sync(~0u, path[PAIRS - 1], 1);
      behind = __shfl_down_sync(~0u, path[0], 1);
#else
      // The slots are used in turn, so that one barrier per pixel is sufficient.
      const int turn = (n + slot) % 2 * 32;
      firsts[turn + item] = path[0];
      lasts[turn + item] = path[PAIRS - 1];
      minima[turn + item] = lowest;
      BARRIER();
      for (int i = 0; i < 32; ++i) lowest = min(lowest, minima[turn + i]);
      const uint base = TWICE(lowest);
      for (int i = 0; i < PAIRS; ++i) path[i] -= base;
      before = lasts[turn + max(item, 1) - 1] - base;
      behind = firsts[turn + min(item, 30) + 1] - base;
#endif
      if (item == 0) before = TWICE(BEYOND);
      if (item == 31) behind = TWICE(BEYOND);
    }
  }
}

#if FOURS == 1
// Supports any number of disparities, which are processed one by one. The path costs of the previous pixel and of the
// current pixel lie in scratch memory.
KERNEL(wide_paths)(ARRAY(const COST, costs), IMAGE(const uchar, guide), IMAGE(const ushort, edge), ARRAY(ushort, sums), ARRAY(ushort, scratch),
                   int width, int height, int disparities, int dx, int dy, int add, int max_cost, int p1, int p2,
                   int p2_min, int gradient) {
  LOCAL int lowest[3];  // minima of the previous, the current and the next pixel, in rotation
  const int line = group_id(0), x = first_x(line, width, dx, dy), y = first_y(line, width, height, dy);
  const int steps = min(steps_along(x, width, dx), steps_along(y, height, dy));
  const long start = ((long)y * width + x) * disparities, stride = ((long)dy * width + dx) * disparities;
  // The path cost of disparity k has index k + 1. The first and the last element are larger than any path cost.
  GLOBAL ushort* last = ELEMENTS(scratch) + (long)line * 2 * (disparities + 2);
  GLOBAL ushort* path = last + disparities + 2;
  GLOBAL const ushort* entering = costs_before(edge, edge_layout, line, width, disparities, dx, dy);
  for (int k = local_id(0); k < disparities + 2; k += local_size(0)) {
    const int outside = k == 0 || k == disparities + 1;
    last[k] = outside ? BEYOND : entering != 0 ? entering[k - 1] : 0;
    path[k] = BEYOND;
  }
  if (local_id(0) == 0) {
    lowest[0] = 0;
    lowest[1] = lowest[2] = BEYOND;
  }
  BARRIER();
  int turn = 0, grey = entering != 0 && GIVEN(guide) ? PIXEL(guide, x - dx, y - dy) : 0;
  for (int n = 0; n < steps; ++n) {
    GLOBAL const COST* cost = ELEMENTS(costs) + start + n * stride;
    GLOBAL ushort* sum = ELEMENTS(sums) + start + n * stride;
    const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
    int jump = p2, mine = BEYOND;
    if (GIVEN(guide)) {
      const int here = PIXEL(guide, x + n * dx, y + n * dy);
      jump = penalty((int)abs(here - grey), p2, p2_min, gradient);
      grey = here;
    }
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      const int beside = min((int)last[k], (int)last[k + 2]) + p1;
      const int here = min((int)cost[k], max_cost) + min(min((int)last[k + 1], beside), base + jump) - base;
      path[k + 1] = (ushort)here;
      sum[k] = (ushort)(add ? sum[k] + here : here);
      mine = min(mine, here);
    }
    atomic_min(&lowest[next], mine);
    if (local_id(0) == 0) lowest[next == 2 ? 0 : next + 1] = BEYOND;
    BARRIER();
    GLOBAL ushort* const swapped = last;
    last = path;
    path = swapped;
    turn = next;
  }
}
#endif
