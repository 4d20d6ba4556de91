// Costs of correlation from running sums: zncc.hpp.
//
// instance near: SUM=int MOST_RADIUS=16
// instance far: SUM=int MOST_RADIUS=50
// instance wide: SUM=long MOST_RADIUS=50
#include "device/gpu/vocabulary.h"

#define NO_COST 65535
#define NO_CANDIDATE 1
#define AMBIGUOUS 4

#define SAMPLE(image, x, y) \
  ((SUM)PIXEL(image, clamp(x, 0, WIDTH(image) - 1), clamp(y, 0, HEIGHT(image) - 1)))

// Computes Σ v and Σ v² over the rows of the window, for `steps` rows of a column.
KERNEL(moments)(IMAGE(const short, samples), ARRAY(long, moments), int radius, int steps) {
  const int x = global_id(0), first = global_id(1) * steps, width = WIDTH(samples), height = HEIGHT(samples);
  if (x >= width || first >= height) return;
  long sum = 0, squares = 0;
  for (int dy = -radius; dy < radius; ++dy) {
    const long v = (long)SAMPLE(samples, x, first + dy);
    sum += v;
    squares += v * v;
  }
  for (int y = first; y < min(first + steps, height); ++y) {
    const long entering = (long)SAMPLE(samples, x, y + radius), leaving = (long)SAMPLE(samples, x, y - radius);
    sum += entering;
    squares += entering * entering;
    const long at = 2 * ((long)y * width + x);
    ELEMENTS(moments)[at] = sum;
    ELEMENTS(moments)[at + 1] = squares;
    sum -= leaving;
    squares -= leaving * leaving;
  }
}

// Computes the statistics of the windows of `steps` pixels of a row. The pixels include the `radius` pixels outside the
// image whose windows overlap the image. A left window has four words: m, c, i and 0. A right window has two words: Σ v
// and i.
KERNEL(windows)(ARRAY(const long, moments), ARRAY(uint, windows), int is_left, int width, int height, int radius,
                int steps, float one_over_n) {
  const int first = global_id(0) * steps - radius, y = global_id(1);
  if (first >= width + radius || y >= height) return;
  const long n = (2 * radius + 1) * (2 * radius + 1);
  GLOBAL const long* row = ELEMENTS(moments) + 2 * (long)y * width;
  long sum = 0, squares = 0;
  for (int dx = -radius; dx < radius; ++dx) {
    const int x = clamp(first + dx, 0, width - 1);
    sum += row[2 * x];
    squares += row[2 * x + 1];
  }
  for (int x = first; x < min(first + steps, width + radius); ++x) {
    const int entering = clamp(x + radius, 0, width - 1), leaving = clamp(x - radius, 0, width - 1);
    sum += row[2 * entering];
    squares += row[2 * entering + 1];
    const long mean = (long)rint((float)(int)sum * one_over_n), e = sum - n * mean;
    const float variance = (float)(squares - mean * sum - mean * e) - (float)e * one_over_n * (float)e;
    const uint root = bits_of_float(n * squares == sum * sum ? 0.0f : inverse_root(variance));
    const long at = (long)y * (width + 2 * radius) + radius + x;
    GLOBAL uint* window = ELEMENTS(windows) + (is_left ? 4 : 2) * at;
    window[0] = is_left ? (uint)(int)mean : (uint)(int)sum;
    window[1] = is_left ? bits_of_float((float)(int)e * one_over_n) : root;
    if (is_left) window[2] = root;
    sum -= row[2 * leaving];
    squares -= row[2 * leaving + 1];
  }
}

#define LANES 32
#define STRIP 24

// Returns the cost of a left and a right window whose sum of products is `sum`.
FUNCTION ushort cost_of(SUM sum, uint4 left, uint2 right) {
  const int mean = (int)left.x, right_sum = (int)right.x;
  const float covariance = (float)(sum - (SUM)mean * right_sum) - float_of_bits(left.y) * (float)right_sum;
  const float correlation = covariance * float_of_bits(left.z) * float_of_bits(right.y);
  // The last bit of 256 + ρ, as a float, has the value 2⁻¹⁵.
  const int score = (int)(bits_of_float(fmin(fmax(correlation, 0.0f), 1.0f) + 256.0f) - 0x43800000);
  return (ushort)(score == 0 ? NO_COST : 32768 - score);
}

// Moves the sums of products of columns by one row: adds the products of the rows `in`, and subtracts those of the rows
// `out`. `inside` is constant at every call: whether all pixels are inside the images.
FUNCTION void move_down(LOCAL_POINTER SUM* columns, GLOBAL const short* left_in, GLOBAL const short* left_out,
                        GLOBAL const short* right_in, GLOBAL const short* right_out, int first_x, int count, int d,
                        int width, int inside) {
#pragma unroll 4
  for (int c = 0; c < count; ++c) {
    const int x = inside ? first_x + c : clamp(first_x + c, 0, width - 1);
    const int x_right = inside ? x - d : clamp(first_x + c - d, 0, width - 1);
    columns[c * LANES] += (SUM)left_in[x] * right_in[x_right] - (SUM)left_out[x] * right_out[x_right];
  }
}

// Computes the costs of a band of rows. A work-item processes one disparity, for a strip of columns. It keeps running
// sums of products for each column, and for the window along the row. Columns are not shared between work-items, so
// that no barrier is needed.
KERNEL(costs)(IMAGE(const short, left), IMAGE(const short, right), ARRAY(const uint, left_windows),
              ARRAY(const uint, right_windows), ARRAY(ushort, costs), int disparities, int min_disparity, int radius,
              int band, int first_row, int rows) {
  LOCAL SUM columns_of_group[(STRIP + 2 * MOST_RADIUS) * LANES];
  LOCAL_POINTER SUM* columns = columns_of_group + local_id(0);
  const int width = WIDTH(left), height = HEIGHT(left), strips = (width + STRIP - 1) / STRIP;
  const int k = group_id(0) / strips * LANES + local_id(0), d = min_disparity + k;
  if (k >= disparities) return;
  const int first_x = group_id(0) % strips * STRIP, strip = min(STRIP, width - first_x);
  const int first_y = first_row + group_id(1) * band, last_y = min(first_y + band, first_row + rows);
  const int first_column = first_x - radius, count = strip + 2 * radius, last_column = first_column + count - 1;
  const int inside = min(first_column, first_column - d) >= 0 && max(last_column, last_column - d) < width;
#define ROW(image, y) (image + image##_layout.offset + (long)clamp(y, 0, height - 1) * image##_layout.pitch)

  for (int c = 0; c < count; ++c) {
    const int x = first_column + c;
    SUM sum = 0;
    for (int y = first_y - radius; y <= first_y + radius; ++y) sum += SAMPLE(left, x, y) * SAMPLE(right, x - d, y);
    columns[c * LANES] = sum;
  }
  for (int y = first_y; y < last_y; ++y) {
    if (y > first_y) {
      GLOBAL const short *left_in = ROW(left, y + radius), *left_out = ROW(left, y - radius - 1);
      GLOBAL const short *right_in = ROW(right, y + radius), *right_out = ROW(right, y - radius - 1);
      if (inside)
        move_down(columns, left_in, left_out, right_in, right_out, first_column, count, d, width, 1);
      else
        move_down(columns, left_in, left_out, right_in, right_out, first_column, count, d, width, 0);
    }
    SUM sum = 0;
    for (int c = 0; c < 2 * radius; ++c) sum += columns[c * LANES];
    const long row = (long)y * (width + 2 * radius) + radius;
    GLOBAL const uint4* left_window = (GLOBAL const uint4*)ELEMENTS(left_windows) + row + first_x;
    GLOBAL const uint2* right_window = (GLOBAL const uint2*)ELEMENTS(right_windows) + row;
    GLOBAL ushort* cost = ELEMENTS(costs) + ((long)(y - first_row) * width + first_x) * disparities + k;
#pragma unroll 4
    for (int c = 0; c < strip; ++c) {
      sum += columns[(c + 2 * radius) * LANES];
      // Windows farther outside are equal to those at the border.
      const int x_right = clamp(first_x + c - d, -radius, width - 1 + radius);
      cost[(long)c * disparities] = cost_of(sum, left_window[c], right_window[x_right]);
      sum -= columns[c * LANES];
    }
  }
}

// A pixel without a candidate becomes ambiguous if its own window has no variance, which means that all its samples are
// equal.
KERNEL(mark_flat)(IMAGE(const short, left), IMAGE(uchar, validity), int radius) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(validity);
  if (x >= width || y >= HEIGHT(validity) || PIXEL(validity, x, y) != NO_CANDIDATE) return;
  const SUM centre = SAMPLE(left, x, y);
  int flat = 1;
  for (int dy = -radius; dy <= radius && flat; ++dy)
    for (int dx = -radius; dx <= radius && flat; ++dx) flat = SAMPLE(left, x + dx, y + dy) == centre;
  if (flat) PIXEL(validity, x, y) = AMBIGUOUS;
}
