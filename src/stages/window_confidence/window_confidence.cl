// Confidence of a disparity map: window_confidence.hpp. If the window is a compile-time constant, a work-group keeps the left
// words of all its windows in local memory.
//
// instance any: FIXED_RADIUS=0
// instance r1: FIXED_RADIUS=1
// instance r2: FIXED_RADIUS=2
// instance r3: FIXED_RADIUS=3
#include "device/gpu/vocabulary.h"
#include "stages/shared/window_sum.cl.h"

#define MSM 1
#define FD 2
#define PKR 3

#define ITEMS_X 32
#define ITEMS_Y 8

// WORDS declares the left window as a parameter, WORDS_AT_PIXEL passes it as an argument, and WORD reads its words.
#undef WORDS
#undef WORDS_AT_PIXEL
#undef WORD
#if FIXED_RADIUS > 0
#define TILE_X (ITEMS_X + 2 * FIXED_RADIUS)
#define TILE_Y (ITEMS_Y + 2 * FIXED_RADIUS)
#define WORDS LOCAL_POINTER const uint* words
#define WORDS_AT_PIXEL tile + (local_id(1) + FIXED_RADIUS) * TILE_X + local_id(0) + FIXED_RADIUS
#define WORD(dx, dy) words[(dy) * TILE_X + (dx)]
#else
#define WORDS IMAGE(const uint, words), int x, int y
#define WORDS_AT_PIXEL left, left_layout, x, y
#define WORD(dx, dy) PIXEL(words, clamp(x + (dx), 0, WIDTH(words) - 1), clamp(y + (dy), 0, HEIGHT(words) - 1))
#endif

FUNCTION float feature_density(WORDS, int radius_x, int radius_y) {
  uint sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, total = 0;
  // `all` is the sum of the words, and `odd` has the sums of bytes 1 and 3 in 16 bits each, so that all − odd · 2⁸ has
  // the sums of bytes 0 and 2.
  uint all = 0, odd = 0;
#pragma unroll
  for (int dy = -RADIUS_Y; dy <= RADIUS_Y; ++dy) {
#pragma unroll
    for (int dx = -RADIUS_X; dx <= RADIUS_X; ++dx) {
      const uint word = WORD(dx, dy);
      all += word;
      odd += (word >> 8) & 0xFF00FFu;
    }
    // Sums over a small window fit in 16 bits, and sums over a row always do.
    if (FIXED_RADIUS > 0 && dy < RADIUS_Y) continue;
    const uint even = all - (odd << 8);
    sum0 += even & 0xFFFFu;
    sum1 += odd & 0xFFFFu;
    sum2 += even >> 16;
    sum3 += odd >> 16;
    all = odd = 0;
  }
#define MEAN(sum) ((2 * (sum) + WINDOW_AREA) / (2 * WINDOW_AREA))
  const uint mean = MEAN(sum0) | MEAN(sum1) << 8 | MEAN(sum2) << 16 | MEAN(sum3) << 24;
#pragma unroll
  for (int dy = -RADIUS_Y; dy <= RADIUS_Y; ++dy)
#pragma unroll
    for (int dx = -RADIUS_X; dx <= RADIUS_X; ++dx) total += colour_difference(WORD(dx, dy), mean);
  return quotient((int)total, (int)(total + 8 * WINDOW_AREA));
}

#if FIXED_RADIUS > 0
// Returns the sum over the window if the window of the right view lies inside the image.
FUNCTION int sum_inside(WORDS, GLOBAL const uint* right, Layout right_layout, int x, int y) {
  uint sum = 0;
#pragma unroll
  for (int dy = -RADIUS_Y; dy <= RADIUS_Y; ++dy) {
    GLOBAL const uint* row = &PIXEL(right, x, clamp(y + dy, 0, HEIGHT(right) - 1));
#pragma unroll
    for (int dx = -RADIUS_X; dx <= RADIUS_X; ++dx) sum += colour_difference(WORD(dx, dy), row[dx]);
  }
  return (int)sum;
}
#endif

KERNEL(window_confidence)(int measure, int radius_x, int radius_y, IMAGE(const uint, left), IMAGE(const uint, right),
                   IMAGE(const float, disparity), IMAGE(float, confidence)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity), height = HEIGHT(disparity);
#define SUM(d) window_sum(left, left_layout, right, right_layout, RADIUS_X, RADIUS_Y, x, y, -(d))
#undef MATCH
#if FIXED_RADIUS > 0
  LOCAL uint tile[TILE_X * TILE_Y];
  for (int j = local_id(1); j < TILE_Y; j += ITEMS_Y)
    for (int i = local_id(0); i < TILE_X; i += ITEMS_X)
      tile[j * TILE_X + i] = PIXEL(left, clamp(group_id(0) * ITEMS_X - FIXED_RADIUS + i, 0, width - 1),
                                   clamp(group_id(1) * ITEMS_Y - FIXED_RADIUS + j, 0, height - 1));
  BARRIER();
#define MATCH(d)                                                                                                    \
  (window_is_inside(width, RADIUS_X, x, -(d), -(d)) ? sum_inside(WORDS_AT_PIXEL, right, right_layout, x - (d), y) \
                                                    : SUM(d))
#else
#define MATCH(d) SUM(d)
#endif
  if (x >= width || y >= height) return;
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
      result = quotient(gain, gain + WINDOW_AREA * abs(best - d));
    } else {
      result = measure == FD ? 1.0f : quotient(8 * WINDOW_AREA, 8 * WINDOW_AREA + MATCH(d));
      if (measure != MSM) result *= feature_density(WORDS_AT_PIXEL, RADIUS_X, RADIUS_Y);
    }
  }
  PIXEL(confidence, x, y) = result;
}
