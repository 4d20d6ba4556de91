// Measured again by confidence: remeasure.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define REACH 2
#define SPAN 2
#define COSTS (2 * SPAN + 1)
#define ROW (2 * REACH + COSTS)  // right words of a row of the window, for all k
#define FILLED 64

#define WORD(name, x, y) PIXEL(name, clamp(x, 0, WIDTH(disparity) - 1), clamp(y, 0, HEIGHT(disparity) - 1))

KERNEL(remeasure)(IMAGE(const ulong, left), IMAGE(const ulong, right), IMAGE(const float, confidence), IMAGE(float, disparity),
                  IMAGE(uchar, validity), float least, float tolerance, int first, int last) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const int trusted = PIXEL(confidence, x, y) >= least;
  if (PIXEL(validity, x, y) == 0) {
    if (!trusted) PIXEL(validity, x, y) = FILLED;
    return;
  }
  const float before = PIXEL(disparity, x, y);
  if (!trusted || !(fabs(before) < 32768.0f)) return;
  const int b = (int)floor(before + 0.5f);
  if (x - b - SPAN < 0 || x - b + SPAN >= WIDTH(disparity)) return;

  int costs[COSTS] = {0, 0, 0, 0, 0};
  for (int j = -REACH; j <= REACH; ++j) {
    ulong there[ROW];
#pragma unroll
    for (int i = 0; i < ROW; ++i) there[i] = WORD(right, x - b + i - REACH - SPAN, y + j);
#pragma unroll
    for (int i = -REACH; i <= REACH; ++i) {
      const ulong here = WORD(left, x + i, y + j);
#pragma unroll
      for (int k = -SPAN; k <= SPAN; ++k) costs[k + SPAN] += (int)popcount(here ^ there[i - k + REACH + SPAN]);
    }
  }
  int best = 0;
#pragma unroll
  for (int k = 1; k < COSTS; ++k) best = costs[k] < costs[best] ? k : best;
  if (best == 0 || best == COSTS - 1) return;
  const int whole = b + best - SPAN, below = costs[best - 1], above = costs[best + 1];
  const int rise = max(below, above) - costs[best];
  if (rise == 0 || whole < first || whole > last) return;
  const float d = (float)whole + quotient(below - above, 2 * rise);
  if (fabs(d - before) > tolerance) return;
  PIXEL(disparity, x, y) = d;
  PIXEL(validity, x, y) = 0;
}
