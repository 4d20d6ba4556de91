// Seeds that spread over the pixels around them: prior.hpp. The bits of `known` are the pixels with a seed, in words of 32
// columns. `list` has the seeds in any order, and `made` two numbers for each seed: v, and slopes, weight and reach.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define ITEMS 256
#define WINDOW 16
#define MOST_NEIGHBOURHOOD 24
#define MOST_SLOPE 127
#define USUAL_SPACING 128
#define SURE_REACH 5
#define LEAST_SPACING 24

// Returns the greatest integer whose square is at most v.
FUNCTION int root_of(int v) {
  int r = (int)sqrt((float)v);
  while (r * r > v) --r;
  while ((r + 1) * (r + 1) <= v) ++r;
  return r;
}

FUNCTION int trust_of(GLOBAL const float* trust, Layout trust_layout, int x, int y) {
  if (!GIVEN(trust)) return 255;
  const float t = PIXEL(trust, x, y);
  return t >= 0.0f ? (int)floor(255.0f * fmin(t, 1.0f) + 0.5f) : 0;
}

// Returns s of a disparity, in sixteenths of a pixel from the lowest one; −1 outside the range.
FUNCTION int value_of(float disparity, int lowest, int most) {
  if (!(fabs(disparity) < 32768.0f)) return -1;
  const float v = floor(16.0f * (disparity - (float)lowest) + 0.5f);
  return v >= 0.0f && v <= (float)most ? (int)v : -1;
}

FUNCTION int floor_of_quotient(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// Returns the 64 columns of a row of bits from column `first` on, which may be negative.
FUNCTION ulong bits_of(GLOBAL const uint* row, int words, int first) {
  const int word = first >> 5, shift = first & 31;
  ulong bits = 0;
  for (int i = 0; i < 3; ++i) {
    const ulong here = word + i >= 0 && word + i < words ? (ulong)row[word + i] : (ulong)0;
    const int to = 32 * i - shift;
    bits |= to >= 64 ? (ulong)0 : to >= 0 ? here << to : here >> -to;
  }
  return bits;
}
FUNCTION ulong lowest_bits(int count) { return count >= 64 ? ~(ulong)0 : ((ulong)1 << count) - 1; }
FUNCTION int lowest_bit(ulong bits) { return (int)popcount((bits & (~bits + 1)) - 1); }

KERNEL(find_seeds)(IMAGE(const float, seeds), IMAGE(const float, trust), ARRAY(uint, known), ARRAY(int, list),
                   ARRAY(int, count), int words, int lowest, int most) {
  LOCAL uint bits[ITEMS / 32];
  const int item = local_id(0), x = global_id(0), y = group_id(1);
  const int inside = x < WIDTH(seeds) && y < HEIGHT(seeds);
  if (item < ITEMS / 32) bits[item] = 0;
  BARRIER();
  if (inside && value_of(PIXEL(seeds, x, y), lowest, most) >= 0 && trust_of(trust, trust_layout, x, y) > 0) {
    atomic_add(&bits[item / 32], 1u << (item % 32));
    ELEMENTS(list)[atomic_add(ELEMENTS(count), 1)] = y * WIDTH(seeds) + x;
  }
  BARRIER();
  if (inside && x % 32 == 0) ELEMENTS(known)[(long)y * words + x / 32] = bits[item / 32];
}

// The sums over the neighbours that agree with a plane.
typedef struct {
  int agree, neighbours, e, xx, yy, xy, xz, yz;
} Sums;

// Returns the nearest integer to a / b, for b > 0, limited to the slopes.
FUNCTION int slope_of(long a, long b) {
  const long positive = a < 0 ? -a : a, nearest = (2 * positive + b) / (2 * b);
  const int limited = nearest < MOST_SLOPE ? (int)nearest : MOST_SLOPE;
  return a < 0 ? -limited : limited;
}

KERNEL(make_seeds)(IMAGE(const float, seeds), IMAGE(const float, trust), IMAGE(const uchar, grey8), ARRAY(uint, known),
                   ARRAY(int, list), ARRAY(int, count), ARRAY(int, made), ARRAY(int, rows), int all_items, int words,
                   int lowest, int similar, int tolerance, int most_reach) {
  const int width = WIDTH(grey8), height = HEIGHT(grey8), seeds_count = ELEMENTS(count)[0];
  for (int i = global_id(0); i < seeds_count; i += all_items) {
    const int pixel = ELEMENTS(list)[i], x = pixel % width, y = pixel / width;
    const int first_y = max(0, y - WINDOW), last_y = min(height - 1, y + WINDOW), first_x = max(0, x - WINDOW);
    const int columns = min(width - 1, x + WINDOW) - first_x + 1;
    int in_window = 0;
    for (int v = first_y; v <= last_y; ++v)
      in_window += (int)popcount(bits_of(ELEMENTS(known) + (long)v * words, words, first_x) & lowest_bits(columns));
    const int spacing = root_of(256 * (last_y - first_y + 1) * columns / in_window);
    const int reach = min((2 * spacing + 8) >> 4, MOST_NEIGHBOURHOOD);
    const int here = value_of(PIXEL(seeds, x, y), lowest, 0x7FFFFFFF), grey = PIXEL(grey8, x, y);
    int slope_x = 0, slope_y = 0;
    Sums s;
    for (int round = spacing < LEAST_SPACING ? 2 : 0; round < 3; ++round) {
      const int limit = 16 * tolerance + (round == 0 ? 4 * reach : 0);
      s.agree = s.neighbours = s.e = s.xy = s.xz = s.yz = 0;
      s.xx = s.yy = 1;
      for (int v = max(0, y - reach); v <= min(height - 1, y + reach); ++v) {
        const int from = max(0, x - reach);
        ulong bits = bits_of(ELEMENTS(known) + (long)v * words, words, from) & lowest_bits(x + reach - from + 1);
        for (; bits != 0; bits &= bits - 1) {
          const int u = from + lowest_bit(bits), dx = u - x, dy = v - y;
          if ((dx == 0 && dy == 0) || abs((int)PIXEL(grey8, u, v) - grey) > similar) continue;
          ++s.neighbours;
          const int z = value_of(PIXEL(seeds, u, v), lowest, 0x7FFFFFFF) - here;
          const int e = z - ((slope_x * dx + slope_y * dy + 8) >> 4);
          if (abs(e) > limit) continue;
          ++s.agree;
          s.e += e;
          s.xx += dx * dx;
          s.yy += dy * dy;
          s.xy += dx * dy;
          s.xz += dx * z;
          s.yz += dy * z;
        }
      }
      if (round == 2) break;
      const long determinant = (long)s.xx * s.yy - (long)s.xy * s.xy;
      slope_x = s.agree >= 2 ? slope_of(16 * ((long)s.xz * s.yy - (long)s.yz * s.xy), determinant) : 0;
      slope_y = s.agree >= 2 ? slope_of(16 * ((long)s.yz * s.xx - (long)s.xz * s.xy), determinant) : 0;
    }
    const int value = here + floor_of_quotient(2 * s.e + s.agree + 4, 2 * (s.agree + 4));
    const int trusted = trust_of(trust, trust_layout, x, y) * min(spacing, USUAL_SPACING) / USUAL_SPACING;
    const int weight = trusted * (s.agree + 1) / (s.neighbours + 1);
    const int most = min(17 * spacing / 256, most_reach);
    const int sparse = max(min(most, SURE_REACH), most * (s.agree + 1) / (s.neighbours + 1));
    const int spread = spacing >= LEAST_SPACING ? sparse : 0;
    if (spread > 0) atomic_min(ELEMENTS(rows) + y, -spread);
    GLOBAL int* to = ELEMENTS(made) + 2 * (long)pixel;
    to[0] = value;
    to[1] = (int)((uint)(slope_x + 128) | (uint)(slope_y + 128) << 8 | (uint)weight << 16 | (uint)spread << 24);
  }
}

// `rows` has the largest reach of the seeds of each row, as a negative number.
KERNEL(spread_seeds)(IMAGE(const uchar, grey8), ARRAY(uint, known), ARRAY(int, made), ARRAY(int, rows),
                     IMAGE(uint, prior), int words, int most, int contrast_limit, int most_reach) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(prior), height = HEIGHT(prior);
  if (x >= width || y >= height) return;
  const int grey = PIXEL(grey8, x, y);
  int best = 0x7FFFFFFF;
  uint result = 0;
  for (int v = max(0, y - most_reach); v <= min(height - 1, y + most_reach); ++v) {
    const int of_row = -ELEMENTS(rows)[v], from = max(0, x - of_row);
    if (abs(y - v) > of_row) continue;
    ulong bits = bits_of(ELEMENTS(known) + (long)v * words, words, from) & lowest_bits(x + of_row - from + 1);
    for (; bits != 0; bits &= bits - 1) {
      const int u = from + lowest_bit(bits), dx = x - u, dy = y - v;
      GLOBAL const int* of = ELEMENTS(made) + 2 * ((long)v * width + u);
      const uint packed = (uint)of[1];
      const int reach = (int)(packed >> 24), contrast = abs((int)PIXEL(grey8, u, v) - grey);
      if (max(abs(dx), abs(dy)) > reach || contrast > contrast_limit) continue;
      const int key = root_of(256 * (dx * dx + dy * dy)) + contrast;
      if (key >= best) continue;
      best = key;
      const int slope_x = (int)(packed & 255) - 128, slope_y = (int)(packed >> 8 & 255) - 128;
      const int value = clamp(of[0] + ((slope_x * dx + slope_y * dy + 8) >> 4), 0, most), far = 48 * max(reach, 1);
      const int weight = max(0, (int)(packed >> 16 & 255) * (far - 2 * key)) / far;
      result = weight == 0 ? 0u : (uint)value << 8 | (uint)weight;
    }
  }
  PIXEL(prior, x, y) = result;
}
