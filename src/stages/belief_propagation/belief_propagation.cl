// Belief propagation: belief_propagation.hpp. In the volumes of a level, the disparity is the fastest index. In
// pass_messages, a group of work-items processes a pixel. Each work-item processes every local_size-th disparity.
//
// instance any:
#include "device/gpu/vocabulary.h"

// Returns the number of elements in a volume of a level, including padding.
FUNCTION long volume_of(int width, int height, int disparities) {
  return ((long)width * height * disparities + 127) / 128 * 128;
}

// Widens the costs of the finest level.
KERNEL(widen)(ARRAY(const uchar, costs), ARRAY(ushort, sums), int width, int height, int disparities) {
  const int cell = global_id(0), y = global_id(1);
  if (cell >= width * disparities || y >= height) return;
  const long at = (long)y * width * disparities + cell;
  ELEMENTS(sums)[at] = ELEMENTS(costs)[at];
}

// Computes the costs of a coarser level.
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

// Initialises the messages of a level from the coarser level. If there is none (coarse_width = 0), sets them to 0.
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

// Passes messages from those pixels of a row that send in this pass.
KERNEL(pass_messages)(ARRAY(const ushort, costs), ARRAY(ushort, messages), ARRAY(uchar, waiting), int width, int height,
             int disparities, int turn, int slope, int truncation, int reach, int convergence) {
  LOCAL int lowest[4];
  LOCAL int changed[4];
  LOCAL int waits;
  const long volume = volume_of(width, height, disparities);
  const int y = min(group_id(1), height - 1);  // groups beyond the last row repeat that row
  const int x = 2 * group_id(0) + ((y + turn) & 1), inside = x < width && group_id(1) < height;
  const long pixel = (long)y * width + (x < width ? x : 0), cell = pixel * disparities;
  if (local_id(0) < 4) {
    lowest[local_id(0)] = 65535;
    changed[local_id(0)] = 0;
  }
  if (local_id(0) == 0) waits = inside && ELEMENTS(waiting)[pixel] != 0;
  BARRIER();
  GLOBAL ushort* here = ELEMENTS(messages) + cell;
  if (waits) {
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      int sum = ELEMENTS(costs)[cell + k];
      for (int i = 0; i < 4; ++i) sum += here[i * volume + k];
      for (int i = 0; i < 4; ++i) atomic_min(&lowest[i], sum - here[(i ^ 1) * volume + k]);
    }
  }
  BARRIER();
  if (waits) {
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      int best[4];
      for (int i = 0; i < 4; ++i) best[i] = lowest[i] + truncation;
      for (int j = max(0, k - reach); j <= min(disparities - 1, k + reach); ++j) {
        int sum = ELEMENTS(costs)[cell + j] + slope * (int)abs(j - k);
        for (int i = 0; i < 4; ++i) sum += here[i * volume + j];
        for (int i = 0; i < 4; ++i) best[i] = min(best[i], sum - (int)here[(i ^ 1) * volume + j]);
      }
      for (int i = 0; i < 4; ++i) {
        const int u = x + (i == 0) - (i == 1), v = y + (i == 2) - (i == 3);
        if (u < 0 || v < 0 || u >= width || v >= height) continue;
        GLOBAL ushort* to = ELEMENTS(messages) + i * volume + ((long)v * width + u) * disparities + k;
        const int value = best[i] - lowest[i];
        if ((int)abs(value - (int)*to) > convergence) changed[i] = 1;
        *to = (ushort)value;
      }
    }
  }
  BARRIER();
  if (!waits || local_id(0) != 0) return;
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
