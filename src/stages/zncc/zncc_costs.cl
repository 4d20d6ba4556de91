// Costs of correlation from running sums, for a band of rows: zncc.hpp.
//
// instance narrow: SUM=int
// instance wide: SUM=long
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

// Computes Σ v and 1/√V for the windows of `steps` pixels of a row. The pixels include the `radius` pixels outside the
// image whose windows overlap the image.
KERNEL(windows)(ARRAY(const long, moments), ARRAY(int, sums), ARRAY(float, roots), int width, int height, int radius,
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
    const long at = (long)y * (width + 2 * radius) + radius + x;
    ELEMENTS(sums)[at] = (int)sum;
    ELEMENTS(roots)[at] = n * squares == sum * sum ? 0.0f : inverse_root(variance);
    sum -= row[2 * leaving];
    squares -= row[2 * leaving + 1];
  }
}

// Computes Σ l r over the rows of the window, for column x of the left image, a disparity, and the rows of the band.
// Columns start `radius` columns before the image. A later band continues from the last row of the previous band.
KERNEL(columns)(IMAGE(const short, left), IMAGE(const short, right), ARRAY(SUM, columns), int disparities,
                int min_disparity, int radius, int first_row, int rows, int last_row_before) {
  const int k = global_id(0), x = global_id(1) - radius, width = WIDTH(left);
  if (k >= disparities || x >= width + radius) return;
  const int x_right = x - min_disparity - k;
  const long row_cells = (long)(width + 2 * radius) * disparities;
  GLOBAL SUM* column = ELEMENTS(columns) + (long)(x + radius) * disparities + k;
  SUM sum = 0;
#define PRODUCT(y) (SAMPLE(left, x, y) * SAMPLE(right, x_right, y))
  if (first_row == 0) {
    for (int dy = -radius; dy < radius; ++dy) sum += PRODUCT(dy);
  } else {
    sum = column[last_row_before * row_cells] - PRODUCT(first_row - 1 - radius);
  }
  for (int i = 0; i < rows; ++i) {
    sum += PRODUCT(first_row + i + radius);
    column[i * row_cells] = sum;
    sum -= PRODUCT(first_row + i - radius);
  }
}

// Computes the costs for one disparity, of `steps` pixels in a row of the band. There is one work-item per disparity,
// row and run of pixels.
KERNEL(costs)(ARRAY(const SUM, columns), ARRAY(const int, left_sums), ARRAY(const float, left_roots),
              ARRAY(const int, right_sums), ARRAY(const float, right_roots), ARRAY(ushort, costs), int width,
              int disparities, int min_disparity, int radius, int first_row, int rows, int steps, float one_over_n) {
  const int runs = (width + steps - 1) / steps;
  const int k = global_id(0), row = global_id(1) / runs, first = global_id(1) % runs * steps;
  if (k >= disparities || row >= rows) return;
  const int window = 2 * radius + 1, n = window * window;
  // Windows farther outside are equal to those at the border.
  const long windows = (long)(first_row + row) * (width + 2 * radius) + radius;
  GLOBAL const SUM* column = ELEMENTS(columns) + row * (long)(width + 2 * radius) * disparities + k;
  GLOBAL ushort* cost = ELEMENTS(costs) + (long)row * width * disparities + k;
  SUM sum = 0;
  for (int i = 0; i < window - 1; ++i) sum += column[(long)(first + i) * disparities];
  for (int x = first; x < min(first + steps, width); ++x) {
    sum += column[(long)(x + window - 1) * disparities];
    const int left_sum = ELEMENTS(left_sums)[windows + x];
    const int mean = (int)rint((float)left_sum * one_over_n);
    const float fraction = (float)(left_sum - n * mean) * one_over_n;
    const long there = windows + clamp(x - min_disparity - k, -radius, width - 1 + radius);
    const int right_sum = ELEMENTS(right_sums)[there];
    const float covariance = (float)(sum - (SUM)mean * right_sum) - fraction * (float)right_sum;
    const float correlation = covariance * ELEMENTS(left_roots)[windows + x] * ELEMENTS(right_roots)[there];
    // The last bit of 256 + ρ, as a float, has the value 2⁻¹⁵.
    const int score = (int)(bits_of_float(fmin(fmax(correlation, 0.0f), 1.0f) + 256.0f) - 0x43800000);
    cost[(long)x * disparities] = (ushort)(score == 0 ? NO_COST : 32768 - score);
    sum -= column[(long)x * disparities];
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
