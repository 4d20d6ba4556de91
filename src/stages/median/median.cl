// Median filter: median.hpp. The median is the value that as many valid ones precede as it has to leave behind.
//
// instance w3: WINDOW=3
// instance w5: WINDOW=5
#include "device/gpu/vocabulary.h"

KERNEL(median)(IMAGE(const float, disparity), IMAGE(float, filtered)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(filtered), height = HEIGHT(filtered);
  if (x >= width || y >= height) return;
  float values[WINDOW * WINDOW];
  int valid = 0;
  for (int dy = 0; dy < WINDOW; ++dy)
    for (int dx = 0; dx < WINDOW; ++dx) {
      const float d =
          PIXEL(disparity, clamp(x + dx - WINDOW / 2, 0, width - 1), clamp(y + dy - WINDOW / 2, 0, height - 1));
      values[dy * WINDOW + dx] = d == 0.0f ? 0.0f : d;  // −0 is read as +0
      valid += d == d;
    }
  const int middle = (valid - 1) / 2;
  float result = INVALID;
  for (int i = 0; i < WINDOW * WINDOW; ++i) {
    int lower = 0, equal = 0;  // what is not a number is neither
    for (int j = 0; j < WINDOW * WINDOW; ++j) {
      lower += values[j] < values[i];
      equal += values[j] == values[i];
    }
    if (lower <= middle && middle < lower + equal) result = values[i];
  }
  const float centre = PIXEL(disparity, x, y);
  PIXEL(filtered, x, y) = centre == centre ? result : INVALID;
}
