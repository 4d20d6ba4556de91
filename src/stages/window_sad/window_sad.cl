// Window matching: window_sad.hpp. A work-item processes one disparity, for a strip of columns and a band of rows. The
// work-item keeps a running sum for each column, and one along the row. Columns are not shared between work-items, so
// that no barrier is needed.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/cost/colours.cl.h"

#define LANES 64
#define STRIP 24
#define MOST_COLUMNS (STRIP + 84)

KERNEL(window_sad)(IMAGE(const uint, left), IMAGE(const uint, right), int disparities, int min_disparity, int radius_x,
                   int radius_y, int shift, int band, int first_row, int rows, ARRAY(ushort, sums)) {
  LOCAL ushort columns[MOST_COLUMNS * LANES];
  const int width = WIDTH(left), height = HEIGHT(left), lane = local_id(0);
  const int strips = (width + STRIP - 1) / STRIP;
  const int k = group_id(0) / strips * LANES + lane, d = min_disparity + k;
  if (k >= disparities) return;
  const int first_x = group_id(0) % strips * STRIP, last_x = min(first_x + STRIP, width);
  const int first_y = first_row + group_id(1) * band, last_y = min(first_y + band, first_row + rows);
  const int count = last_x - first_x + 2 * radius_x;
#define COLUMN(c) columns[(c) * LANES + lane]
#define COST_AT(x, y) \
  colour_difference(PIXEL(left, x, clamp(y, 0, height - 1)), PIXEL(right, clamp((x) - d, 0, width - 1), clamp(y, 0, height - 1)))

  for (int c = 0; c < count; ++c) {
    const int x = clamp(first_x - radius_x + c, 0, width - 1);
    uint sum = 0;
    for (int dy = -radius_y; dy <= radius_y; ++dy) sum += COST_AT(x, first_y + dy);
    COLUMN(c) = (ushort)sum;
  }
  for (int y = first_y; y < last_y; ++y) {
    if (y > first_y)
      for (int c = 0; c < count; ++c) {
        const int x = clamp(first_x - radius_x + c, 0, width - 1);
        COLUMN(c) = (ushort)(COLUMN(c) + COST_AT(x, y + radius_y) - COST_AT(x, y - radius_y - 1));
      }
    uint sum = 0;
    for (int c = 0; c < 2 * radius_x; ++c) sum += COLUMN(c);
    GLOBAL ushort* out = ELEMENTS(sums) + ((long)(y - first_row) * width + first_x) * disparities + k;
    for (int c = 0; c < last_x - first_x; ++c) {
      sum += COLUMN(c + 2 * radius_x);
      out[(long)c * disparities] = (ushort)(sum >> shift);
      sum -= COLUMN(c);
    }
  }
}
