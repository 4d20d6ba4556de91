// Aggregation over segments: segment_support.hpp. Each pixel first receives the mean of its segment, and the mean of
// its window is then added.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/window_mean/window_mean.cl.h"

#define BLOCK 8
#define NUMBER_BITS 25
#define PATCH 32
#define SIDE_BY_SIDE 32
#define TEAMS 8
#define MOST_ROWS 192  // largest height and width of the area of a segment

// Returns the cell of the pixel that belongs to the lowest set bit in a word of a region. Each row of the region starts
// with a new word.
FUNCTION long lowest_cell(uint bits, int word, int row_words, int first_x, int first_y, int width, int disparities) {
  const int x = word % row_words * 32 + (int)popcount(~bits & (bits - 1u));
  return (((long)first_y + word / row_words) * width + first_x + x) * disparities;
}

// A group of work-items processes a patch of the image and a run of disparities. The group processes all segments whose
// cells start in the patch, one after the other. Teams, with one work-item per disparity, share the pixels of a
// segment. The words limit where these pixels may lie: stages/shared/segments.hpp.
KERNEL(give_segment_means)(IMAGE(const uint, segments), ARRAY(const uchar, costs), ARRAY(ushort, aggregated), int patches,
                           int disparities) {
  LOCAL uint members[MOST_ROWS * MOST_ROWS / 32];  // one bit per pixel of a region
  LOCAL uint sums[SIDE_BY_SIDE];
  LOCAL uint pixels;
  const int width = WIDTH(segments), height = HEIGHT(segments), lane = local_id(0), team = local_id(1);
  const int left = group_id(0) % patches * PATCH, top = group_id(1) * PATCH;
  const int k = group_id(0) / patches * SIDE_BY_SIDE + lane;
  const int cell = (int)(PIXEL(segments, 0, 0) >> NUMBER_BITS), blocks = (width + BLOCK - 1) / BLOCK;

  for (int y0 = (top + cell - 1) / cell * cell; y0 < min(height, top + PATCH); y0 += cell)
    for (int x0 = (left + cell - 1) / cell * cell; x0 < min(width, left + PATCH); x0 += cell) {
      const uint wanted = (uint)(y0 / BLOCK * blocks + x0 / BLOCK) | (uint)cell << NUMBER_BITS;
      const int first_x = max(0, x0 - cell), columns = min(width, x0 + 2 * cell) - first_x;
      const int first_y = max(0, y0 - cell), rows = min(height, y0 + 2 * cell) - first_y;
      const int row_words = (columns + 31) / 32, words = k < disparities ? rows * row_words : 0;
      BARRIER();  // wait until the previous segment is done
      for (int i = team * SIDE_BY_SIDE + lane; i < rows * row_words; i += TEAMS * SIDE_BY_SIDE) members[i] = 0;
      if (team == 0) sums[lane] = 0;
      if (team == 0 && lane == 0) pixels = 0;
      BARRIER();
      uint own = 0;
      for (int y = team; y < rows; y += TEAMS)
        for (int x = lane; x < columns; x += SIDE_BY_SIDE)
          if (PIXEL(segments, first_x + x, first_y + y) == wanted) {
            atomic_add(&members[y * row_words + x / 32], 1u << x % 32);
            ++own;
          }
      if (own > 0) atomic_add(&pixels, own);
      BARRIER();
      uint sum = 0;
      for (int i = team; i < words; i += TEAMS)
        for (uint bits = members[i]; bits != 0; bits &= bits - 1u)
          sum += ELEMENTS(costs)[lowest_cell(bits, i, row_words, first_x, first_y, width, disparities) + k];
      if (sum > 0) atomic_add(&sums[lane], sum);
      BARRIER();
      const ushort mean = (ushort)((128u * sums[lane] + pixels / 2u) / max(pixels, 1u));
      for (int i = team; i < words; i += TEAMS)
        for (uint bits = members[i]; bits != 0; bits &= bits - 1u)
          ELEMENTS(aggregated)[lowest_cell(bits, i, row_words, first_x, first_y, width, disparities) + k] = mean;
    }
}

KERNEL(add_window_means)(ARRAY(const uchar, costs), ARRAY(ushort, aggregated), int width, int height, int disparities,
                         int radius, int band) {
  LOCAL uint columns[MOST_COLUMNS * LANES];
  window_means(columns, ELEMENTS(costs), ELEMENTS(aggregated), width, height, disparities, radius, radius, band, 1);
}
