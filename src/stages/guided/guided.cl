// Guided filter of a cost volume: guided.hpp. Box sums are computed down columns, then along rows, for one segment of
// SEGMENT pixels at a time. The first window of a segment is summed completely. For each next window, the entering
// value is added and the leaving value is subtracted. Sums are stored in the order (pixel, sum, disparity).
//
// instance grey: CHANNELS=1
// instance colour: CHANNELS=3
#include "device/gpu/vocabulary.h"

#define SEGMENT 64
#define SUMS (CHANNELS + 1)
#define GUIDE_SUMS (CHANNELS + CHANNELS * (CHANNELS + 1) / 2)
#define STATISTICS (3 * CHANNELS + CHANNELS * (CHANNELS + 1) / 2 + 1)

// Adds a pixel of the guide and the products of its channels, multiplied by `sign`.
FUNCTION void add_guide(int* sums, GLOBAL const uchar* guide, int sign) {
  int index = 0;
  for (int c = 0; c < CHANNELS; ++c) sums[index++] += sign * ((int)guide[c] - 128);
  for (int c = 0; c < CHANNELS; ++c)
    for (int d = c; d < CHANNELS; ++d) sums[index++] += sign * ((int)guide[c] - 128) * ((int)guide[d] - 128);
}

// Sums the guide down a column, for the rows [first, last).
KERNEL(guide_columns)(IMAGE(const uchar, guide), ARRAY(int, columns), int width, int radius, int first, int last) {
  const int x = global_id(0), from = first + global_id(1) * SEGMENT, height = HEIGHT(guide);
  if (x >= width || from >= last) return;
  int sums[GUIDE_SUMS];
  for (int s = 0; s < GUIDE_SUMS; ++s) sums[s] = 0;
  for (int y = max(from - radius, 0); y < min(from + radius, height); ++y) add_guide(sums, &PIXEL(guide, x * CHANNELS, y), 1);
  for (int y = from; y < min(from + SEGMENT, last); ++y) {
    if (y + radius < height) add_guide(sums, &PIXEL(guide, x * CHANNELS, y + radius), 1);
    if (y > from && y - radius > 0) add_guide(sums, &PIXEL(guide, x * CHANNELS, y - radius - 1), -1);
    GLOBAL int* out = ELEMENTS(columns) + ((long)(y - first) * width + x) * GUIDE_SUMS;
    for (int s = 0; s < GUIDE_SUMS; ++s) out[s] = sums[s];
  }
}

// Computes the statistics of a window of n pixels from its sums.
FUNCTION void statistics_of(const int* sums, int n, float epsilon, GLOBAL float* out) {
  const float share = divide(1.0f, (float)n);
  int m[CHANNELS], e[CHANNELS];
  float delta[CHANNELS];
  for (int c = 0; c < CHANNELS; ++c) {
    m[c] = nearest_int((float)sums[c] * share);
    e[c] = sums[c] - n * m[c];
    delta[c] = (float)e[c] * share;
    out[c] = (float)m[c];
    out[CHANNELS + c] = delta[c];
    out[2 * CHANNELS + c] = (float)m[c] + delta[c];
  }
  const float flat = (float)n * epsilon;
  float covariance[CHANNELS * (CHANNELS + 1) / 2];
  int index = 0;
  for (int c = 0; c < CHANNELS; ++c)
    for (int d = c; d < CHANNELS; ++d) {
      const int centred = sums[CHANNELS + index] - m[c] * sums[d] - m[d] * sums[c] + n * m[c] * m[d];
      const float value = (float)centred - delta[c] * (float)e[d];
      covariance[index++] = c == d ? value + flat : value;
    }
  GLOBAL float* k = out + 3 * CHANNELS;
#if CHANNELS == 1
  k[0] = divide(1.0f, covariance[0]);
  k[1] = share;
#else
  const float c11 = covariance[0], c12 = covariance[1], c13 = covariance[2], c22 = covariance[3], c23 = covariance[4],
              c33 = covariance[5];
  const float l21 = divide(c12, c11), l31 = divide(c13, c11);
  const float d2 = c22 - l21 * c12;
  const float l32 = divide(c23 - l31 * c12, d2);
  const float d3 = (c33 - l31 * c13) - l32 * (l32 * d2);
  const float i1 = divide(1.0f, c11), i2 = divide(1.0f, d2), i3 = divide(1.0f, d3);
  const float u31 = l21 * l32 - l31;
  const float k23 = -(l32 * i3), k13 = u31 * i3;
  k[0] = (i1 + l21 * (l21 * i2)) + u31 * k13;
  k[1] = u31 * k23 - l21 * i2;
  k[2] = k13;
  k[3] = i2 - l32 * k23;
  k[4] = k23;
  k[5] = i3;
  k[6] = share;
#endif
}

KERNEL(statistics)(ARRAY(const int, columns), ARRAY(float, statistics), int width, int height, int radius, float epsilon, int first,
                   int last) {
  const int y = first + global_id(0), from = global_id(1) * SEGMENT;
  if (y >= last || from >= width) return;
  const long row = (long)(y - first) * width;
  GLOBAL const int* in = ELEMENTS(columns) + row * GUIDE_SUMS;
  const int tall = min(y + radius, height - 1) - max(y - radius, 0) + 1;
  int sums[GUIDE_SUMS];
  for (int s = 0; s < GUIDE_SUMS; ++s) sums[s] = 0;
  for (int x = max(from - radius, 0); x < min(from + radius, width); ++x)
    for (int s = 0; s < GUIDE_SUMS; ++s) sums[s] += in[x * GUIDE_SUMS + s];
  for (int x = from; x < min(from + SEGMENT, width); ++x) {
    if (x + radius < width)
      for (int s = 0; s < GUIDE_SUMS; ++s) sums[s] += in[(x + radius) * GUIDE_SUMS + s];
    if (x > from && x - radius > 0)
      for (int s = 0; s < GUIDE_SUMS; ++s) sums[s] -= in[(x - radius - 1) * GUIDE_SUMS + s];
    const int n = tall * (min(x + radius, width - 1) - max(x - radius, 0) + 1);
    statistics_of(sums, n, epsilon, ELEMENTS(statistics) + (row + x) * STATISTICS);
  }
}

// Adds a cost and its products with the guide, multiplied by `sign`.
FUNCTION void add_cost(int* sums, int cost, GLOBAL const uchar* guide, int sign) {
  sums[0] += sign * cost;
  for (int c = 0; c < CHANNELS; ++c) sums[1 + c] += sign * cost * ((int)guide[c] - 128);
}

// Sums the costs down a column, for the rows [first, last) and for `count` disparities after the first `skipped`.
KERNEL(cost_columns)(IMAGE(const uchar, guide), ARRAY(const uchar, costs), ARRAY(int, columns), int width, int disparities, int skipped,
                     int count, int radius, int first, int last) {
  const int cell = global_id(0), from = first + global_id(1) * SEGMENT, height = HEIGHT(guide);
  if (cell >= width * count || from >= last) return;
  const int x = cell / count, k = cell % count;
  const long pitch = (long)width * disparities;
  GLOBAL const uchar* cost = ELEMENTS(costs) + (long)x * disparities + skipped + k;
  int sums[SUMS];
  for (int s = 0; s < SUMS; ++s) sums[s] = 0;
  for (int y = max(from - radius, 0); y < min(from + radius, height); ++y)
    add_cost(sums, cost[y * pitch], &PIXEL(guide, x * CHANNELS, y), 1);
  for (int y = from; y < min(from + SEGMENT, last); ++y) {
    const int coming = y + radius, going = y - radius - 1;
    if (coming < height) add_cost(sums, cost[coming * pitch], &PIXEL(guide, x * CHANNELS, coming), 1);
    if (y > from && going >= 0) add_cost(sums, cost[going * pitch], &PIXEL(guide, x * CHANNELS, going), -1);
    GLOBAL int* out = ELEMENTS(columns) + ((long)(y - first) * width + x) * SUMS * count + k;
    for (int s = 0; s < SUMS; ++s) out[s * count] = sums[s];
  }
}

// Adds the sums of a column, multiplied by `sign`.
FUNCTION void add_column(int* sums, GLOBAL const int* columns, int x, int count, int sign) {
  for (int s = 0; s < SUMS; ++s) sums[s] += sign * columns[((long)x * SUMS + s) * count];
}

// Computes the coefficients a and b of the rows in fixed point.
KERNEL(coefficients)(ARRAY(const int, columns), ARRAY(const float, statistics), ARRAY(int, coefficients), int width, int rows, int count,
                     int radius, float factor_a, float factor_b) {
  const int cell = global_id(0), from = global_id(1) * SEGMENT;
  if (cell >= rows * count || from >= width) return;
  const int y = cell / count, k = cell % count;
  GLOBAL const int* in = ELEMENTS(columns) + (long)y * width * SUMS * count + k;
  GLOBAL int* out = ELEMENTS(coefficients) + (long)y * width * SUMS * count + k;
  int sums[SUMS];
  for (int s = 0; s < SUMS; ++s) sums[s] = 0;
  for (int x = max(from - radius, 0); x < min(from + radius, width); ++x) add_column(sums, in, x, count, 1);
  for (int x = from; x < min(from + SEGMENT, width); ++x) {
    if (x + radius < width) add_column(sums, in, x + radius, count, 1);
    if (x > from && x - radius > 0) add_column(sums, in, x - radius - 1, count, -1);
    GLOBAL const float* window = ELEMENTS(statistics) + ((long)y * width + x) * STATISTICS;
    GLOBAL const float* mu = window + 2 * CHANNELS;
    GLOBAL const float* K = window + 3 * CHANNELS;
    const float sum = (float)sums[0];
    float v[CHANNELS], a[CHANNELS];
    for (int c = 0; c < CHANNELS; ++c) v[c] = (float)(sums[1 + c] - (int)window[c] * sums[0]) - window[CHANNELS + c] * sum;
#if CHANNELS == 1
    a[0] = K[0] * v[0];
    const float offset = a[0] * mu[0];
#else
    a[0] = (K[0] * v[0] + K[1] * v[1]) + K[2] * v[2];
    a[1] = (K[1] * v[0] + K[3] * v[1]) + K[4] * v[2];
    a[2] = (K[2] * v[0] + K[4] * v[1]) + K[5] * v[2];
    const float offset = (a[0] * mu[0] + a[1] * mu[1]) + a[2] * mu[2];
#endif
    const float b = sum * window[STATISTICS - 1] - offset;
    for (int c = 0; c < CHANNELS; ++c) out[((long)x * SUMS + c) * count] = nearest_int(a[c] * factor_a);
    out[((long)x * SUMS + CHANNELS) * count] = nearest_int(b * factor_b);
  }
}

// Sums the coefficients down a column, for the rows [first, last) of an image of `height` rows. The coefficients begin
// with row `begin`.
KERNEL(coefficient_columns)(ARRAY(const int, coefficients), ARRAY(int, columns), int width, int height, int count, int radius, int begin,
                            int first, int last) {
  const int cell = global_id(0), from = first + global_id(1) * SEGMENT;
  if (cell >= width * count || from >= last) return;
  const long pitch = (long)width * SUMS * count;
  const long column = (long)(cell / count) * SUMS * count + cell % count;
  GLOBAL const int* in = ELEMENTS(coefficients) + column;
  int sums[SUMS];
  for (int s = 0; s < SUMS; ++s) sums[s] = 0;
  for (int y = max(from - radius, 0); y < min(from + radius, height); ++y)
    for (int s = 0; s < SUMS; ++s) sums[s] += in[(y - begin) * pitch + s * count];
  for (int y = from; y < min(from + SEGMENT, last); ++y) {
    const int coming = y + radius, going = y - radius - 1;
    if (coming < height)
      for (int s = 0; s < SUMS; ++s) sums[s] += in[(coming - begin) * pitch + s * count];
    if (y > from && going >= 0)
      for (int s = 0; s < SUMS; ++s) sums[s] -= in[(going - begin) * pitch + s * count];
    GLOBAL int* out = ELEMENTS(columns) + (y - first) * pitch + column;
    for (int s = 0; s < SUMS; ++s) out[s * count] = sums[s];
  }
}

// Computes the rows [first, last) of the result. The statistics begin with row `begin`.
KERNEL(filter)(IMAGE(const uchar, guide), ARRAY(const int, columns), ARRAY(const float, statistics), ARRAY(float, filtered), int width,
               int disparities, int skipped, int count, int radius, int begin, int first, int last, float unit_a, float unit_b) {
  const int cell = global_id(0), from = global_id(1) * SEGMENT;
  if (cell >= (last - first) * count || from >= width) return;
  const int row = cell / count, k = cell % count, y = first + row;
  GLOBAL const int* in = ELEMENTS(columns) + (long)row * width * SUMS * count + k;
  GLOBAL float* out = ELEMENTS(filtered) + (long)row * width * disparities + skipped + k;
  int sums[SUMS];
  for (int s = 0; s < SUMS; ++s) sums[s] = 0;
  for (int x = max(from - radius, 0); x < min(from + radius, width); ++x) add_column(sums, in, x, count, 1);
  for (int x = from; x < min(from + SEGMENT, width); ++x) {
    if (x + radius < width) add_column(sums, in, x + radius, count, 1);
    if (x > from && x - radius > 0) add_column(sums, in, x - radius - 1, count, -1);
    float product = (float)sums[0] * (float)((int)PIXEL(guide, x * CHANNELS, y) - 128);
    for (int c = 1; c < CHANNELS; ++c) product += (float)sums[c] * (float)((int)PIXEL(guide, x * CHANNELS + c, y) - 128);
    const float share = ELEMENTS(statistics)[((long)(y - begin) * width + x) * STATISTICS + STATISTICS - 1];
    out[(long)x * disparities] = (product * unit_a + (float)sums[CHANNELS] * unit_b) * share;
  }
}
