// Adaptive support weights over the full window: asw.hpp. A work-group computes TILE_X columns of one row and TILE_D
// disparities. A work-item computes 8 disparities of one pixel. For each row of the window, the weights of all its
// pixels are computed once.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/support_weight/support_weight.cl.h"

#define TILE_X 32
#define TILE_D 64
#define ITEMS 256
#define PER_ITEM 8
#define RIGHT_PIXELS (TILE_X + TILE_D - 1)
#define MOST_TAPS 63

KERNEL(aggregate)(IMAGE(const uint, lab_left), IMAGE(const uint, lab_right), ARRAY(const uchar, costs), ARRAY(ushort, aggregated),
                  Weights table, int disparities, int min_disparity, int radius_x, int radius_y, int colour_scale,
                  int distance_scale) {
  LOCAL ushort weight_of[256];
  LOCAL uchar left[MOST_TAPS * TILE_X];
  LOCAL uchar right[MOST_TAPS * RIGHT_PIXELS];
  LOCAL uchar cost[TILE_D * (TILE_X + MOST_TAPS)];
  const int item = local_id(0), taps = 2 * radius_x + 1, width = WIDTH(lab_left), height = HEIGHT(lab_left);
  const int d_tiles = (disparities + TILE_D - 1) / TILE_D;
  // Groups beyond the last row repeat that row, because a kernel with barriers must not return early.
  const int first_x = group_id(0) * TILE_X, y = min(group_id(1) / d_tiles, height - 1), first_k = group_id(1) % d_tiles * TILE_D;
  const int first_right = first_x - min_disparity - first_k - (TILE_D - 1);  // first right pixel of the tile
  const int cost_pitch = TILE_X + taps - 1;
  const int tile_x = item % TILE_X, tile_k = item / TILE_X * PER_ITEM;
  weight_of[item] = table.of[item];

  ulong sum[PER_ITEM];
  uint total[PER_ITEM];
  for (int j = 0; j < PER_ITEM; ++j) {
    sum[j] = 0;
    total[j] = 0;
  }
  for (int dy = -radius_y; dy <= radius_y; ++dy) {
    const int row = clamp(y + dy, 0, height - 1);
    BARRIER();
    for (int i = item; i < taps * (TILE_X + RIGHT_PIXELS); i += ITEMS) {
      const int tap = i / (TILE_X + RIGHT_PIXELS), n = i % (TILE_X + RIGHT_PIXELS), dx = tap - radius_x;
      const int is_left = n < TILE_X;
      const int x = clamp(is_left ? first_x + n : first_right + n - TILE_X, 0, width - 1), other_x = clamp(x + dx, 0, width - 1);
      const uint p = is_left ? PIXEL(lab_left, x, y) : PIXEL(lab_right, x, y);
      const uint q = is_left ? PIXEL(lab_left, other_x, row) : PIXEL(lab_right, other_x, row);
      const int distance_part = min(1 << 24, distance_scale * root(16 * (dx * dx + dy * dy)));
      const uchar weight = (uchar)in_8_bits(weight_of[exponent(colour_scale, colour_distance(p, q), distance_part)]);
      if (is_left) left[tap * TILE_X + n] = weight;
      else right[tap * RIGHT_PIXELS + n - TILE_X] = weight;
    }
    GLOBAL const uchar* costs_of_row = ELEMENTS(costs) + (long)row * width * disparities;
    for (int i = item; i < TILE_D * cost_pitch; i += ITEMS) {
      const int k = i % TILE_D, n = i / TILE_D, x = clamp(first_x - radius_x + n, 0, width - 1);
      cost[k * cost_pitch + n] = costs_of_row[(long)x * disparities + min(first_k + k, disparities - 1)];
    }
    BARRIER();
    uint row_sum[PER_ITEM];
    for (int j = 0; j < PER_ITEM; ++j) row_sum[j] = 0;
    for (int tap = 0; tap < taps; ++tap) {
      const uint weight = left[tap * TILE_X + tile_x];
      LOCAL_POINTER const uchar* weights = right + tap * RIGHT_PIXELS + TILE_D - 1 + tile_x - tile_k;
      LOCAL_POINTER const uchar* cells = cost + tile_k * cost_pitch + tile_x + tap;
      for (int j = 0; j < PER_ITEM; ++j) {
        const uint both = weight * weights[-j];
        row_sum[j] += both * cells[j * cost_pitch];
        total[j] += both;
      }
    }
    for (int j = 0; j < PER_ITEM; ++j) sum[j] += row_sum[j];
  }

  const int x = first_x + tile_x;
  if (x >= width) return;
  GLOBAL ushort* out = ELEMENTS(aggregated) + ((long)y * width + x) * disparities + first_k + tile_k;
  for (int j = 0; j < PER_ITEM; ++j)
    if (first_k + tile_k + j < disparities) out[j] = (ushort)((128 * sum[j] + total[j] / 2) / total[j]);
}
