// Median filter: median.hpp.
//
// instance w3: WINDOW=3
// instance w5: WINDOW=5
#include "device/gpu/vocabulary.h"

#define COUNT (WINDOW * WINDOW)
#define LOG_COUNT (WINDOW == 3 ? 4 : 5)  // binary logarithm of the next power of two

// Batcher's merge exchange (Knuth, volume 3, algorithm 5.2.2M). The loop lengths are constant, so that the loops unroll
// to exchanges only.
FUNCTION void sort(float* values) {
#pragma unroll
  for (int a = 0; a < LOG_COUNT; ++a)
#pragma unroll
    for (int b = a; b >= 0; --b) {
      const int p = 1 << a, k = 1 << b;
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const int offset = i - k % p;
        if (offset < 0 || offset % (2 * k) >= k || i + k >= COUNT || i / (2 * p) != (i + k) / (2 * p)) continue;
        const float low = values[i], high = values[i + k];
        values[i] = fmin(low, high);
        values[i + k] = fmax(low, high);
      }
    }
}

// Invalid values are read as infinities, which are sorted after the valid values.
KERNEL(median)(IMAGE(const float, disparity), IMAGE(float, filtered)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(filtered), height = HEIGHT(filtered);
  if (x >= width || y >= height) return;
  float values[COUNT];
  int valid = 0;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const float d = PIXEL(disparity, clamp(x + i % WINDOW - WINDOW / 2, 0, width - 1),
                          clamp(y + i / WINDOW - WINDOW / 2, 0, height - 1));
    values[i] = d != d ? float_of_bits(0x7F800000) : d == 0.0f ? 0.0f : d;  // −0 is read as +0
    valid += d == d;
  }
  sort(values);
  const int middle = (valid - 1) / 2;  // index of the median, at most the middle of all values
  float result = values[0];
#pragma unroll
  for (int i = 1; i <= COUNT / 2; ++i)
    if (i == middle) result = values[i];
  const float centre = PIXEL(disparity, x, y);
  PIXEL(filtered, x, y) = centre == centre ? result : INVALID;
}
