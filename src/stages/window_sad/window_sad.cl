// Window matching: window_sad.hpp. A work-item processes two adjacent disparities, in the halves of words, for a strip
// of columns and a band of rows. The work-item keeps running sums for each column, and for the window along the row.
// Columns are not shared between work-items, so that no barrier is needed.
//
// instance near: MOST_RADIUS=8
// instance far: MOST_RADIUS=42
#include "device/gpu/vocabulary.h"
#include "stages/cost/colours.cl.h"

#define LANES 32
#define STRIP 24

// Returns the costs of a left pixel with the right pixels of disparity d (in the lower half) and d + 1.
FUNCTION uint pair_of_costs(uint left, uint right, uint right_of_next) {
  return colour_difference(left, right) | colour_difference(left, right_of_next) << 16;
}

// Moves the sums of columns by one row: adds the costs of the row `entering`, and subtracts those of the row `leaving`.
// If all pixels are `inside` the images, the right pixel of disparity d + 1 is that of d in the previous column. The
// parameter is constant at every call.
FUNCTION void move_down(LOCAL_POINTER uint* columns, GLOBAL const uint* left, GLOBAL const uint* right, long left_in,
                        long left_out, long right_in, long right_out, int first_x, int count, int d, int width,
                        int inside) {
  uint before_in = inside ? right[right_in + first_x - d - 1] : 0;
  uint before_out = inside ? right[right_out + first_x - d - 1] : 0;
#pragma unroll 4
  for (int c = 0; c < count; ++c) {
    const int x = inside ? first_x + c : clamp(first_x + c, 0, width - 1);
    const int here = inside ? x - d : clamp(x - d, 0, width - 1), next = clamp(x - d - 1, 0, width - 1);
    const uint now_in = right[right_in + here], now_out = right[right_out + here];
    columns[c * LANES] += pair_of_costs(left[left_in + x], now_in, inside ? before_in : right[right_in + next]) -
                          pair_of_costs(left[left_out + x], now_out, inside ? before_out : right[right_out + next]);
    before_in = now_in;
    before_out = now_out;
  }
}

KERNEL(window_sad)(IMAGE(const uint, left), IMAGE(const uint, right), int disparities, int min_disparity, int radius_x,
                   int radius_y, int shift, int band, int first_row, int rows, ARRAY(ushort, sums)) {
  LOCAL uint columns_of_group[(STRIP + 2 * MOST_RADIUS) * LANES];
  LOCAL_POINTER uint* columns = columns_of_group + local_id(0);
  const int width = WIDTH(left), height = HEIGHT(left), strips = (width + STRIP - 1) / STRIP;
  const int k = 2 * (group_id(0) / strips * LANES + local_id(0)), d = min_disparity + k;
  if (k >= disparities) return;
  const int first_x = group_id(0) % strips * STRIP, strip = min(STRIP, width - first_x);
  const int first_y = first_row + group_id(1) * band, last_y = min(first_y + band, first_row + rows);
  const int first_column = first_x - radius_x, count = strip + 2 * radius_x, last_column = first_column + count - 1;
  const int inside = min(first_column, first_column - d - 1) >= 0 && max(last_column, last_column - d) < width;
  const int whole = disparities % 2 == 0 && (ulong)ELEMENTS(sums) % 4 == 0;
#define ROW(image, y) (image##_layout.offset + (long)clamp(y, 0, height - 1) * image##_layout.pitch)

  for (int c = 0; c < count; ++c) {
    const int x = clamp(first_column + c, 0, width - 1);
    const int here = clamp(x - d, 0, width - 1), next = clamp(x - d - 1, 0, width - 1);
    uint sum = 0;
    for (int y = first_y - radius_y; y <= first_y + radius_y; ++y)
      sum += pair_of_costs(left[ROW(left, y) + x], right[ROW(right, y) + here], right[ROW(right, y) + next]);
    columns[c * LANES] = sum;
  }
  for (int y = first_y; y < last_y; ++y) {
    if (y > first_y) {
      const long left_in = ROW(left, y + radius_y), left_out = ROW(left, y - radius_y - 1);
      const long right_in = ROW(right, y + radius_y), right_out = ROW(right, y - radius_y - 1);
      if (inside)
        move_down(columns, left, right, left_in, left_out, right_in, right_out, first_column, count, d, width, 1);
      else
        move_down(columns, left, right, left_in, left_out, right_in, right_out, first_column, count, d, width, 0);
    }
    uint low = 0, high = 0;
    for (int c = 0; c < 2 * radius_x; ++c) {
      low += columns[c * LANES] & 0xFFFFu;
      high += columns[c * LANES] >> 16;
    }
    GLOBAL ushort* out = ELEMENTS(sums) + ((long)(y - first_row) * width + first_x) * disparities + k;
#pragma unroll 4
    for (int c = 0; c < strip; ++c, out += disparities) {
      const uint entering = columns[(c + 2 * radius_x) * LANES], leaving = columns[c * LANES];
      low += entering & 0xFFFFu;
      high += entering >> 16;
      if (whole) {
        *(GLOBAL uint*)out = low >> shift | high >> shift << 16;
      } else {
        out[0] = (ushort)(low >> shift);
        if (k + 1 < disparities) out[1] = (ushort)(high >> shift);
      }
      low -= leaving & 0xFFFFu;
      high -= leaving >> 16;
    }
  }
}
