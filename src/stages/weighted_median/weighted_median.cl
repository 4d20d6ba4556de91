// Weighted median of filled pixels: weighted_median.hpp. The bits of the median's key are found from the highest bit
// down. A bit is 1 if the keys below it have less than half of the total weight. Bits that are the same in all keys of
// the window are known.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define FILLED 64

typedef struct {
  ushort colour[256];
  ushort distance[32];
} Weights;

// Maps floats to keys in the same order.
FUNCTION uint key_of(float value) {
#ifdef __CUDACC__
  const uint bits = __float_as_uint(value + 0.0f);
#else
  const uint bits = as_uint(value + 0.0f);
#endif
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
FUNCTION float of_key(uint key) { return float_of_bits((key >> 31) != 0 ? key & 0x7FFFFFFFu : ~key); }

FUNCTION uint colour_weight(LOCAL_POINTER const ushort* colour, int a, int b) { return colour[abs(a - b)]; }

KERNEL(weighted_median)(IMAGE(const float, disparity), IMAGE(const uchar, validity), IMAGE(const uchar, image), IMAGE(float, filtered),
                        int channels, int radius, Weights weights) {
  LOCAL ushort colour[256];
  LOCAL ushort distance[32];
  const int item = local_id(1) * local_size(0) + local_id(0), items = local_size(0) * local_size(1);
  for (int i = item; i < 256; i += items) colour[i] = weights.colour[i];
  for (int i = item; i < 32; i += items) distance[i] = weights.distance[i];
  BARRIER();

  const int x = global_id(0), y = global_id(1), width = WIDTH(filtered), height = HEIGHT(filtered);
  if (x >= width || y >= height) return;
  const float here = PIXEL(disparity, x, y);
  PIXEL(filtered, x, y) = here;
  if ((PIXEL(validity, x, y) & FILLED) == 0 || here != here) return;

  const int middle = min(1, channels - 1), last = channels - 1;
  const int red = PIXEL(image, x * channels, y), green = PIXEL(image, x * channels + middle, y), blue = PIXEL(image, x * channels + last, y);
  const int left = max(x - radius, 0), right = min(x + radius, width - 1);
  const uint own_key = key_of(here);
  uint key = 0, varying = 0;
  ulong total = 0;
  // The first pass covers all keys, and only sums their weights.
  for (int bit = 32; bit >= 0; --bit) {
    if (bit < 32 && (varying >> bit & 1) == 0) continue;
    const uint tried = bit == 32 ? 0xFFFFFFFFu : key | 1u << bit;
    ulong below = 0;
    for (int v = max(y - radius, 0); v <= min(y + radius, height - 1); ++v)
      for (int u = left; u <= right; ++u) {
        const float d = PIXEL(disparity, u, v);
        if (d != d || key_of(d) >= tried) continue;
        if (bit == 32) varying |= key_of(d) ^ own_key;
        const uint space = (uint)distance[abs(u - x)] * distance[abs(v - y)] >> 16;
        const uint two = colour_weight(colour, red, PIXEL(image, u * channels, v)) *
                             colour_weight(colour, green, PIXEL(image, u * channels + middle, v)) >>
                         16;
        const uint all = two * colour_weight(colour, blue, PIXEL(image, u * channels + last, v)) >> 16;
        below += max(space * all >> 16, 1u);
      }
    if (bit == 32) {
      total = below;
      key = own_key & ~varying;
    } else if (2 * below < total) {
      key = tried;
    }
  }
  PIXEL(filtered, x, y) = of_key(key);
}
