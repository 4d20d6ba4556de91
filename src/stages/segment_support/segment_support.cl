// Aggregation over segments: segment_support.hpp. First each pixel is given the mean of its segment, then that of its window is added.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/window_mean/window_mean.cl.h"

#define BLOCK 8
#define NUMBER_BITS 25

// A group of work-items for each block of pixels that may number a segment and for a run of disparities, which has one for each.
// Where the segment's pixels may lie the words say: stages/slic/segments.hpp.
KERNEL(give_segment_means)(IMAGE(const uint, segments), ARRAY(const uchar, costs), ARRAY(ushort, aggregated), int blocks,
                           int disparities) {
  const int width = WIDTH(segments), height = HEIGHT(segments);
  const int column = group_id(0) % blocks, row = group_id(1), k = group_id(0) / blocks * local_size(0) + local_id(0);
  const int cell = (int)(PIXEL(segments, 0, 0) >> NUMBER_BITS);
  const int x0 = (column * BLOCK + cell - 1) / cell * cell, y0 = (row * BLOCK + cell - 1) / cell * cell;
  if (x0 >= min(width, (column + 1) * BLOCK) || y0 >= min(height, (row + 1) * BLOCK) || k >= disparities) return;
  const int first_x = max(0, x0 - cell), last_x = min(width, x0 + 2 * cell);
  const int first_y = max(0, y0 - cell), last_y = min(height, y0 + 2 * cell);
  const uint wanted = (uint)(row * blocks + column) | (uint)cell << NUMBER_BITS;
  uint sum = 0, pixels = 0;
  for (int y = first_y; y < last_y; ++y)
    for (int x = first_x; x < last_x; ++x)
      if (PIXEL(segments, x, y) == wanted) {
        sum += ELEMENTS(costs)[((long)y * width + x) * disparities + k];
        ++pixels;
      }
  if (pixels == 0) return;
  const ushort mean = (ushort)((128u * sum + pixels / 2u) / pixels);
  for (int y = first_y; y < last_y; ++y)
    for (int x = first_x; x < last_x; ++x)
      if (PIXEL(segments, x, y) == wanted) ELEMENTS(aggregated)[((long)y * width + x) * disparities + k] = mean;
}

KERNEL(add_window_means)(ARRAY(const uchar, costs), ARRAY(ushort, aggregated), int width, int height, int disparities,
                         int radius, int band) {
  LOCAL uint columns[MOST_COLUMNS * LANES];
  window_means(columns, ELEMENTS(costs), ELEMENTS(aggregated), width, height, disparities, radius, radius, band, 1);
}
