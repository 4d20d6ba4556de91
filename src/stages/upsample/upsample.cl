// Upsampling along the edges of the image: upsample.hpp. The kernel has another name, because OpenCL C has a function
// named upsample.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define MASKED 16

KERNEL(upsample_map)(IMAGE(const float, reduced), IMAGE(const uchar, reduced_validity), IMAGE(const float, reduced_confidence),
                 IMAGE(const uchar, reduced_grey), IMAGE(const uchar, grey), IMAGE(const uchar, mask), IMAGE(float, disparity),
                 IMAGE(uchar, validity), IMAGE(float, confidence), int factor, int centred, int edge) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const int unit = 2 * factor, middle = centred ? 1 - factor : 0;
  const int twice_x = 2 * x + middle, twice_y = 2 * y + middle;
  const int left = twice_x < 0 ? -1 : twice_x / unit, top = twice_y < 0 ? -1 : twice_y / unit;
  const int behind_x = twice_x - left * unit, behind_y = twice_y - top * unit;
  const int value = PIXEL(grey, x, y);

  float disparities[4];
  int weights[4];
  int strongest = -1, nearest = 0, nearest_weight = -1, largest = 0;
#define NEAR_X(i) clamp(left + (i) % 2, 0, WIDTH(reduced) - 1)
#define NEAR_Y(i) clamp(top + (i) / 2, 0, HEIGHT(reduced) - 1)
  for (int i = 0; i < 4; ++i) {
    const int bilinear = (i % 2 ? behind_x : unit - behind_x) * (i / 2 ? behind_y : unit - behind_y);
    const int steps = abs(value - PIXEL(reduced_grey, NEAR_X(i), NEAR_Y(i))) / edge;
    const float d = PIXEL(reduced, NEAR_X(i), NEAR_Y(i));
    const int weight = d == d ? bilinear * (64 >> min(steps, 6)) : 0;
    disparities[i] = d;
    weights[i] = weight;
    if (bilinear > nearest_weight) {
      nearest = i;
      nearest_weight = bilinear;
    }
    if (weight > largest) {
      strongest = i;
      largest = weight;
    }
  }
  const int masked = GIVEN(mask) && PIXEL(mask, x, y) == 0;
  const int chosen = strongest < 0 ? nearest : strongest;
  const int none = masked || strongest < 0;
  if (GIVEN(validity))
    PIXEL(validity, x, y) = masked ? (uchar)MASKED : PIXEL(reduced_validity, NEAR_X(chosen), NEAR_Y(chosen));
  if (GIVEN(confidence)) PIXEL(confidence, x, y) = none ? 0.0f : PIXEL(reduced_confidence, NEAR_X(chosen), NEAR_Y(chosen));
  float result = INVALID;
  if (!none) {
    const float d = PIXEL(reduced, NEAR_X(chosen), NEAR_Y(chosen));
    int sum = 0, all = 0;
    for (int i = 0; i < 4; ++i) {
      const float difference = disparities[i] - d;
      if (weights[i] == 0 || fabs(difference) > 1.0f) continue;
      sum += weights[i] * (int)rint(256.0f * difference);
      all += weights[i];
    }
    result = (d + quotient(sum, all) * (1.0f / 256.0f)) * (float)factor;
  }
  PIXEL(disparity, x, y) = result;
}
