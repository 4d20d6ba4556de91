// Confidence of a disparity map: confidence.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/window_sad/window_sad.cl.h"

#define MSM 1
#define FD 2
#define PKR 3

FUNCTION uint pixel_near(GLOBAL const uint* image, Layout layout, int x, int y) {
  return image[layout.offset + clamp(y, 0, layout.height - 1) * layout.pitch + clamp(x, 0, layout.width - 1)];
}

FUNCTION float feature_density(GLOBAL const uint* image, Layout layout, int radius_x, int radius_y, int x, int y) {
  const uint count = (uint)((2 * radius_x + 1) * (2 * radius_y + 1));
  uint sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, total = 0;
  for (int dy = -radius_y; dy <= radius_y; ++dy)
    for (int dx = -radius_x; dx <= radius_x; ++dx) {
      const uint word = pixel_near(image, layout, x + dx, y + dy);
      sum0 += word & 255u;
      sum1 += (word >> 8) & 255u;
      sum2 += (word >> 16) & 255u;
      sum3 += word >> 24;
    }
#define MEAN(sum) ((2 * (sum) + count) / (2 * count))
  const uint mean = MEAN(sum0) | MEAN(sum1) << 8 | MEAN(sum2) << 16 | MEAN(sum3) << 24;
  for (int dy = -radius_y; dy <= radius_y; ++dy)
    for (int dx = -radius_x; dx <= radius_x; ++dx) total += colour_difference(pixel_near(image, layout, x + dx, y + dy), mean);
  return quotient((int)total, (int)(total + 8 * count));
}

KERNEL(confidence)(int measure, int radius_x, int radius_y, IMAGE(const uint, left), IMAGE(const uint, right),
                   IMAGE(const float, disparity), IMAGE(float, confidence)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const int count = (2 * radius_x + 1) * (2 * radius_y + 1);
#define SUM(d) window_sum(left, left_layout, right, right_layout, radius_x, radius_y, x, y, -(d))
  const float value = PIXEL(disparity, x, y);
  float result = 0.0f;
  if (value == value) {
    const int d = (int)floor(value + 0.5f);
    if (measure == PKR) {
      int best = d - 2, lowest = SUM(d - 2);
      for (int other = d - 1; other <= d + 2; ++other) {
        if (other == d) continue;
        const int sum = SUM(other);
        if (sum < lowest) {
          lowest = sum;
          best = other;
        }
      }
      const int gain = max(0, lowest - SUM(d));
      result = quotient(gain, gain + count * abs(best - d));
    } else {
      result = measure == FD ? 1.0f : quotient(8 * count, 8 * count + SUM(d));
      if (measure != MSM) result *= feature_density(left, left_layout, radius_x, radius_y, x, y);
    }
  }
  PIXEL(confidence, x, y) = result;
}
