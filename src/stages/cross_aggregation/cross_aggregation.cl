// Aggregation over cross-based regions: cross_aggregation.hpp. Running sums are computed modulo 2^16 and 2^32. A
// work-item walks along a line for one disparity.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define AHEAD 8  // number of pixels whose loads are in flight together

typedef struct {
  int before, behind;  // lengths of the arms in the current direction
} Reach;

// Returns the intersection of the arms of both views, or the arms of the left view if there are no right arms.
FUNCTION Reach reach(IMAGE(const uint, left), IMAGE(const uint, right), int x, int y, int disparity, int along_row) {
  const int shift = along_row ? 0 : 16;
  const uint own = PIXEL(left, x, y) >> shift;
  Reach arms = {(int)(own & 255), (int)(own >> 8 & 255)};
  if (GIVEN(right)) {
    const uint other = PIXEL(right, clamp(x - disparity, 0, WIDTH(left) - 1), y) >> shift;
    arms.before = min(arms.before, (int)(other & 255));
    arms.behind = min(arms.behind, (int)(other >> 8 & 255));
  }
  return arms;
}

// Computes the running sums of the costs from the start of each line.
KERNEL(run)(ARRAY(const uchar, costs), ARRAY(ushort, running), int width, int height, int disparities, int along_row) {
  const int item = global_id(0), k = item % disparities, line = item / disparities;
  if (line >= (along_row ? height : width)) return;
  const long start = (along_row ? (long)line * width : (long)line) * disparities + k;
  const long step = along_row ? disparities : (long)width * disparities;
  const int pixels = along_row ? width : height;
  ushort sum = 0;
  for (int first = 0; first < pixels; first += AHEAD) {
    uchar cost[AHEAD];
    for (int i = 0; i < AHEAD; ++i) cost[i] = ELEMENTS(costs)[start + min(first + i, pixels - 1) * step];
    for (int i = 0; i < AHEAD; ++i) {
      sum = (ushort)(sum + cost[i]);
      if (first + i < pixels) ELEMENTS(running)[start + (first + i) * step] = sum;
    }
  }
}

// Sums the costs over the arms along the lines of run(), and counts the pixels of these arms. Writes both as running
// sums across the lines.
KERNEL(run_across)(IMAGE(const uint, left), IMAGE(const uint, right), ARRAY(const ushort, running), ARRAY(uint, across),
                   ARRAY(ushort, counts), int disparities, int min_disparity, int along_row) {
  const int width = WIDTH(left), height = HEIGHT(left);
  const int item = global_id(0), k = item % disparities, line = item / disparities;
  if (line >= (along_row ? height : width)) return;
  const long start = (along_row ? (long)line * width : (long)line) * disparities + k;
  const long step = along_row ? disparities : (long)width * disparities;
  // Distance to the neighbouring pixel on the line of run().
  const long other = along_row ? (long)width * disparities : disparities;
  const int pixels = along_row ? width : height;
  uint sum = 0;
  ushort count = 0;
  for (int first = 0; first < pixels; first += AHEAD) {
    ushort along[AHEAD], arms_pixels[AHEAD];
    for (int i = 0; i < AHEAD; ++i) {
      const int n = min(first + i, pixels - 1), x = along_row ? n : line, y = along_row ? line : n;
      const Reach arms = reach(left, left_layout, right, right_layout, x, y, min_disparity + k, !along_row);
      GLOBAL const ushort* here = ELEMENTS(running) + start + n * step;
      const int has_before = (along_row ? y : x) - arms.before > 0;
      along[i] = (ushort)(here[arms.behind * other] - (has_before ? here[-(arms.before + 1) * other] : (ushort)0));
      arms_pixels[i] = (ushort)(arms.before + 1 + arms.behind);
    }
    for (int i = 0; i < AHEAD && first + i < pixels; ++i) {
      sum += along[i];
      count = (ushort)(count + arms_pixels[i]);
      ELEMENTS(across)[start + (first + i) * step] = sum;
      ELEMENTS(counts)[start + (first + i) * step] = count;
    }
  }
}

// Computes the means from the sums of run_across().
KERNEL(divide_sums)(IMAGE(const uint, left), IMAGE(const uint, right), ARRAY(const uint, across), ARRAY(const ushort, counts),
                    ARRAY(uchar, costs), int disparities, int min_disparity, int along_row) {
  const int cell = global_id(0), y = global_id(1), width = WIDTH(left);
  if (cell >= width * disparities || y >= HEIGHT(left)) return;
  const int x = cell / disparities, k = cell % disparities;
  const Reach arms = reach(left, left_layout, right, right_layout, x, y, min_disparity + k, along_row);
  const long at = (long)y * width * disparities + cell, step = along_row ? disparities : (long)width * disparities;
  const int has_before = (along_row ? x : y) - arms.before > 0;
  const long last = at + arms.behind * step, before = at - (arms.before + 1) * step;
  const uint sum = ELEMENTS(across)[last] - (has_before ? ELEMENTS(across)[before] : 0u);
  const ushort count = (ushort)(ELEMENTS(counts)[last] - (has_before ? ELEMENTS(counts)[before] : (ushort)0));
  ELEMENTS(costs)[at] = (uchar)((sum + count / 2) / count);
}
