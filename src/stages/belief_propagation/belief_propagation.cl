// Belief propagation: belief_propagation.hpp. Of a level's volumes, disparity is fastest. Where pixels tell their messages, a
// group of ITEMS has a pixel, and each takes every ITEMS-th disparity.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define ITEMS 32  // as in belief_propagation_gpu.cpp
#define ROOM 512

// Of one of the volumes of a level.
FUNCTION long volume_of(int width, int height, int disparities) {
  return ((long)width * height * disparities + 127) / 128 * 128;
}

// The costs of the finest level.
KERNEL(widen)(ARRAY(const uchar, costs), ARRAY(ushort, sums), int width, int height, int disparities) {
  const int cell = global_id(0), y = global_id(1);
  if (cell >= width * disparities || y >= height) return;
  const long at = (long)y * width * disparities + cell;
  ELEMENTS(sums)[at] = ELEMENTS(costs)[at];
}

// A coarser level's costs.
KERNEL(halve)(ARRAY(const ushort, fine), ARRAY(ushort, sums), int fine_width, int fine_height, int width, int height,
              int disparities) {
  const int cell = global_id(0), y = global_id(1), x = cell / disparities, k = cell % disparities;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int v = 2 * y; v < min(2 * y + 2, fine_height); ++v)
    for (int u = 2 * x; u < min(2 * x + 2, fine_width); ++u)
      sum += ELEMENTS(fine)[((long)v * fine_width + u) * disparities + k];
  ELEMENTS(sums)[(long)y * width * disparities + cell] = (ushort)sum;
}

// The messages that a level begins with: those of the coarser one, or none where there is none (coarse_width = 0).
KERNEL(begin)(ARRAY(const ushort, coarse), ARRAY(ushort, messages), ARRAY(uchar, waiting), int coarse_width,
              int coarse_height, int width, int height, int disparities) {
  const long coarse_volume = volume_of(coarse_width, coarse_height, disparities), volume = volume_of(width, height, disparities);
  const int cell = global_id(0), y = global_id(1), x = cell / disparities, k = cell % disparities;
  if (x >= width || y >= height) return;
  const long from = ((long)(y / 2) * coarse_width + x / 2) * disparities + k, to = (long)y * width * disparities + cell;
  for (int i = 0; i < 4; ++i)
    ELEMENTS(messages)[to + i * volume] = coarse_width > 0 ? ELEMENTS(coarse)[from + i * coarse_volume] : (ushort)0;
  if (k == 0) ELEMENTS(waiting)[(long)y * width + x] = 1;
}

// What a pixel tells in direction i before the least of it is found: h of belief_propagation.hpp.
FUNCTION int outgoing(GLOBAL const ushort* costs, GLOBAL const ushort* here, long volume, int i, int k) {
  int sum = costs[k];
  for (int from = 0; from < 4; ++from)
    if (from != (i ^ 1)) sum += here[from * volume + k];
  return sum;
}

// The pixels of a row whose turn it is, a group each.
KERNEL(tell)(ARRAY(const ushort, costs), ARRAY(ushort, messages), ARRAY(uchar, waiting), int width, int height,
             int disparities, int turn, int slope, int truncation, int reach, int convergence) {
  LOCAL ushort held[4 * ROOM];  // what is told in each direction; of more disparities it is made again where it is needed
  LOCAL int changed[4];
#ifndef __CUDACC__
  LOCAL int lows[4 * ITEMS];
#endif
  const long volume = volume_of(width, height, disparities);
  const int item = local_id(0), y = min(group_id(1), height - 1);  // groups beyond the last row repeat it
  const int x = 2 * group_id(0) + ((y + turn) & 1), inside = x < width && group_id(1) < height;
  const long pixel = (long)y * width + (x < width ? x : 0), cell = pixel * disparities;
  const int waits = inside && ELEMENTS(waiting)[pixel] != 0, holds = disparities <= ROOM;
  GLOBAL const ushort* cost = ELEMENTS(costs) + cell;
  GLOBAL const ushort* here = ELEMENTS(messages) + cell;
  int low[4] = {65535, 65535, 65535, 65535};
  if (item < 4) changed[item] = 0;
  for (int k = item; waits && k < disparities; k += ITEMS) {
    int sum = cost[k], from[4];
    for (int i = 0; i < 4; ++i) sum += from[i] = here[i * volume + k];
    for (int i = 0; i < 4; ++i) {
      const int told = sum - from[i ^ 1];
      low[i] = min(low[i], told);
      if (holds) held[i * ROOM + k] = (ushort)told;
    }
  }
#ifdef __CUDACC__
  for (int i = 0; i < 4; ++i)
    for (int lanes = ITEMS / 2; lanes > 0; lanes /= 2) low[i] = min(low[i], __shfl_xor_sync(~0u, low[i], lanes));
  BARRIER();
#else
  for (int i = 0; i < 4; ++i) lows[i * ITEMS + item] = low[i];
  BARRIER();
  for (int i = 0; i < 4 * ITEMS; ++i) low[i / ITEMS] = min(low[i / ITEMS], lows[i]);
#endif
  for (int k = item; waits && k < disparities; k += ITEMS)
    for (int i = 0; i < 4; ++i) {
      const int u = x + (i == 0) - (i == 1), v = y + (i == 2) - (i == 3);
      if (u < 0 || v < 0 || u >= width || v >= height) continue;
      int best = low[i] + truncation;
      for (int j = max(0, k - reach); j <= min(disparities - 1, k + reach); ++j)
        best = min(best, (holds ? (int)held[i * ROOM + j] : outgoing(cost, here, volume, i, j)) + slope * (int)abs(j - k));
      GLOBAL ushort* to = ELEMENTS(messages) + i * volume + ((long)v * width + u) * disparities + k;
      const int value = best - low[i];
      if ((int)abs(value - (int)*to) > convergence) changed[i] = 1;
      *to = (ushort)value;
    }
  BARRIER();
  if (!waits || item != 0) return;
  ELEMENTS(waiting)[pixel] = 0;
  for (int i = 0; i < 4; ++i)
    if (changed[i] != 0) ELEMENTS(waiting)[pixel + (i == 0) - (i == 1) + ((i == 2) - (i == 3)) * width] = 1;
}

KERNEL(add)(ARRAY(const ushort, costs), ARRAY(const ushort, messages), ARRAY(ushort, sums), int width, int height,
            int disparities) {
  const long volume = volume_of(width, height, disparities);
  const int cell = global_id(0), y = global_id(1);
  if (cell >= width * disparities || y >= height) return;
  const long at = (long)y * width * disparities + cell;
  int sum = ELEMENTS(costs)[at];
  for (int i = 0; i < 4; ++i) sum += ELEMENTS(messages)[i * volume + at];
  ELEMENTS(sums)[at] = (ushort)sum;
}
