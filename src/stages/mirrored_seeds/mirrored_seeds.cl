// Seeds of the right view: mirrored_seeds.hpp. Each work-item looks for the nearest seed whose match its pixel is.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(mirror)(IMAGE(const float, seeds), IMAGE(const float, trust), IMAGE(float, mirrored), IMAGE(float, with_trust),
               int least, int most) {
  const int u = global_id(0), y = global_id(1);
  if (u >= WIDTH(mirrored) || y >= HEIGHT(mirrored)) return;
  for (int x = min(u + most, WIDTH(seeds) - 1); x >= max(u + least, 0); --x) {
    const float seed = PIXEL(seeds, x, y);
    if (!(fabs(seed) < 32768.0f) || (int)floor(seed + 0.5f) != x - u) continue;
    const float weight = GIVEN(trust) ? PIXEL(trust, x, y) : 1.0f;
    if (!(weight > 0.0f)) continue;
    PIXEL(mirrored, u, y) = -seed;
    PIXEL(with_trust, u, y) = weight;
    return;
  }
  PIXEL(mirrored, u, y) = INVALID;
  PIXEL(with_trust, u, y) = 0.0f;
}
