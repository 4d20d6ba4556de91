// The check of pixels that seeds reach: seed_check.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define FILLED 64
#define NO_COST (0x7FFFFFFF / 16)

KERNEL(seed_check)(IMAGE(const uint, prior), IMAGE(const ulong, left), IMAGE(const ulong, right),
                   IMAGE(const float, disparity), IMAGE(const float, first_disparity),
                   IMAGE(const uchar, first_validity), IMAGE(uchar, validity)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(right), height = HEIGHT(right);
  if (x >= WIDTH(validity) || y >= HEIGHT(validity)) return;
  const float here = PIXEL(disparity, x, y);
  if ((PIXEL(prior, x, y) & 255) == 0 || PIXEL(validity, x, y) != 0 || !(fabs(here) < 32768.0f)) return;
  if (GIVEN(first_disparity) && PIXEL(first_validity, x, y) == 0 && fabs(PIXEL(first_disparity, x, y) - here) <= 1.0f)
    return;
  ulong words[9];
  for (int n = 0; n < 9; ++n)
    words[n] = PIXEL(left, clamp(x + n % 3 * 2 - 2, 0, width - 1), clamp(y + n / 3 * 2 - 2, 0, height - 1));
  const int b = (int)floor(here + 0.5f);
  int near_cost = NO_COST, far_cost = NO_COST;
  for (int i = 0; i < 9; ++i) {
    const int step = i < 4 ? -(8 >> i) : i == 4 ? 0 : 1 << (i - 5), d = b + step, u = x - d;
    if (u < 0 || u >= width) continue;
    int cost = 0;
    for (int n = 0; n < 9; ++n)
      cost += (int)popcount(words[n] ^ PIXEL(right, clamp(u + n % 3 * 2 - 2, 0, width - 1),
                                             clamp(y + n / 3 * 2 - 2, 0, height - 1)));
    if (fabs((float)d - here) <= 1.0f)
      near_cost = min(near_cost, cost);
    else
      far_cost = min(far_cost, cost);
  }
  if (16 * near_cost > 15 * far_cost) PIXEL(validity, x, y) = FILLED;
}
