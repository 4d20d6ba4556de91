// Halved levels and their combination: cross_scale.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(halve)(IMAGE(const uchar, image), IMAGE(uchar, halved), int channels) {
  const int i = global_id(0), y = global_id(1);
  if (i >= WIDTH(halved) * channels || y >= HEIGHT(halved)) return;
  const int left = i / channels * 2 * channels + i % channels;
  const int right = i / channels * 2 + 1 < WIDTH(image) ? left + channels : left;
  const int lower = min(2 * y + 1, HEIGHT(image) - 1);
  const int sum = (int)PIXEL(image, left, 2 * y) + PIXEL(image, right, 2 * y) + PIXEL(image, left, lower) + PIXEL(image, right, lower);
  PIXEL(halved, i, y) = (uchar)((sum + 2) / 4);
}

// Combines the cells of a row, one per work-item.
KERNEL(combine)(ARRAY(const float, coarse), int coarse_width, int coarse_disparities, ARRAY(float, costs), int width, int height,
                int disparities, int s, int from_right, int min_disparity, int coarse_min_disparity, int first_row, int coarse_first_row,
                float weight, float coarse_weight) {
  const int cell = global_id(0), y = global_id(1);
  if (cell >= width * disparities || y >= height) return;
  const int x = cell / disparities, d = min_disparity + cell % disparities;
  const int row = ((first_row + y) >> s) - coarse_first_row;
  const int index = (from_right ? d >> s : -(-d >> s)) - coarse_min_disparity;
  const float other = ELEMENTS(coarse)[((long)row * coarse_width + (x >> s)) * coarse_disparities + index];
  GLOBAL float* cost = ELEMENTS(costs) + (long)y * width * disparities + cell;
  *cost = weight * *cost + coarse_weight * other;
}
