// Confidence of a disparity map: confidence.hpp.
//
// instance any: FIXED_RADIUS=0
// instance r1: FIXED_RADIUS=1
// instance r2: FIXED_RADIUS=2
// instance r3: FIXED_RADIUS=3
#include "device/gpu/vocabulary.h"
#include "stages/window_sad/window_sad.cl.h"

// Square windows of 3, 5 and 7 are known to the compiler.
#if FIXED_RADIUS > 0
#define RADIUS_X FIXED_RADIUS
#define RADIUS_Y FIXED_RADIUS
#else
#define RADIUS_X radius_x
#define RADIUS_Y radius_y
#endif

#define MSM 1
#define FD 2
#define PKR 3

FUNCTION float feature_density(GLOBAL const uint* image, Layout layout, int radius_x, int radius_y, int x, int y) {
  const int width = layout.width, inside = x >= radius_x && x + radius_x < width;
  const uint count = (uint)((2 * radius_x + 1) * (2 * radius_y + 1));
  uint sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, total = 0;
#define ROW(dy) (image + layout.offset + clamp(y + (dy), 0, layout.height - 1) * layout.pitch)
#define COLUMN(i) (inside ? (i) : clamp(i, 0, width - 1))
  for (int dy = -radius_y; dy <= radius_y; ++dy) {
    GLOBAL const uint* row = ROW(dy);
    uint even = 0, odd = 0;  // two bytes' sums of a row each
    for (int i = x - radius_x; i <= x + radius_x; ++i) {
      const uint word = row[COLUMN(i)];
      even += word & 0xFF00FFu;
      odd += (word >> 8) & 0xFF00FFu;
    }
    sum0 += even & 0xFFFFu;
    sum1 += odd & 0xFFFFu;
    sum2 += even >> 16;
    sum3 += odd >> 16;
  }
#define MEAN(sum) ((2 * (sum) + count) / (2 * count))
  const uint mean = MEAN(sum0) | MEAN(sum1) << 8 | MEAN(sum2) << 16 | MEAN(sum3) << 24;
  for (int dy = -radius_y; dy <= radius_y; ++dy) {
    GLOBAL const uint* row = ROW(dy);
    for (int i = x - radius_x; i <= x + radius_x; ++i) total += colour_difference(row[COLUMN(i)], mean);
  }
  return quotient((int)total, (int)(total + 8 * count));
}

KERNEL(confidence)(int measure, int radius_x, int radius_y, IMAGE(const uint, left), IMAGE(const uint, right),
                   IMAGE(const float, disparity), IMAGE(float, confidence)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const int count = (2 * RADIUS_X + 1) * (2 * RADIUS_Y + 1);
#define SUM(d) window_sum(left, left_layout, right, right_layout, RADIUS_X, RADIUS_Y, x, y, -(d))
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
      if (measure != MSM) result *= feature_density(left, left_layout, RADIUS_X, RADIUS_Y, x, y);
    }
  }
  PIXEL(confidence, x, y) = result;
}
#undef RADIUS_X
#undef RADIUS_Y
