// Learned features and their costs: learned_features.hpp. An int packs four channels of a pixel, with one byte each.
// Planes are arrays of these ints, [y][x][group].
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/learned_features/learned_features_dots.cl.h"

// Writes the image with replicated borders, minus 128, to the first of four channels.
KERNEL(surround)(IMAGE(const uchar, grey), ARRAY(int, plane), int border) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(grey) + 2 * border;
  if (x >= width || y >= HEIGHT(grey) + 2 * border) return;
  const int from_x = clamp(x - border, 0, WIDTH(grey) - 1), from_y = clamp(y - border, 0, HEIGHT(grey) - 1);
  ELEMENTS(plane)[(long)y * width + x] = (PIXEL(grey, from_x, from_y) - 128) & 255;
}

// Width of the tile of a work-group in pixels. A work-item computes its outputs for all rows of its column.
#define TILE_X 32
#define TILE_Y 4
#define OUTS 8
#define OUTS_OF_GROUP 32
#define AROUND_X (TILE_X + 2)
#define AROUND_Y (TILE_Y + 2)

// Computes a layer from the plane `before`, which is larger by two columns and two rows. Of the `channels` outputs,
// only those that `after` has are written.
KERNEL(layer)(ARRAY(const int, before), ARRAY(const int, weights), IMAGE(signed char, after), int groups, int out,
              int channels, int shift, int low) {
  LOCAL int inputs[CHUNK * AROUND_Y * AROUND_X];
  LOCAL int4 filters[9 * CHUNK * OUTS_OF_GROUP / 4];
  const int width = WIDTH(after), height = HEIGHT(after), parts = (out + OUTS_OF_GROUP - 1) / OUTS_OF_GROUP;
  const int first_x = group_id(0) / parts * TILE_X, first_y = group_id(1) * TILE_Y;
  const int first_out = group_id(0) % parts * OUTS_OF_GROUP, lane = local_id(0) % TILE_X,
            own_out = local_id(0) / TILE_X * OUTS;
  GLOBAL const int* biases = ELEMENTS(weights);
  int sums[TILE_Y][OUTS];
#pragma unroll
  for (int o = 0; o < OUTS; ++o) {
    const int bias = first_out + own_out + o < out ? biases[first_out + own_out + o] : 0;
#pragma unroll
    for (int r = 0; r < TILE_Y; ++r) sums[r][o] = bias;
  }

  for (int group = 0; group < groups; group += CHUNK) {
    const int count = min(CHUNK, groups - group);
    BARRIER();
    for (int i = local_id(0); i < AROUND_Y * AROUND_X * count; i += local_size(0)) {
      const int g = i % count, column = i / count % AROUND_X, row = i / count / AROUND_X;
      const int x = min(first_x + column, width + 1), y = min(first_y + row, height + 1);
      inputs[(g * AROUND_Y + row) * AROUND_X + column] =
          ELEMENTS(before)[((long)y * (width + 2) + x) * groups + group + g];
    }
    for (int i = local_id(0); i < 9 * count * OUTS_OF_GROUP; i += local_size(0)) {
      const int o = i % OUTS_OF_GROUP, g = i / OUTS_OF_GROUP % count, tap = i / OUTS_OF_GROUP / count;
      ((LOCAL_POINTER int*)filters)[(tap * CHUNK + g) * OUTS_OF_GROUP + o] =
          first_out + o < out ? biases[out + (tap * groups + group + g) * out + first_out + o] : 0;
    }
    BARRIER();
    for (int g = 0; g < count; ++g)
#pragma unroll
      for (int dx = 0; dx < 3; ++dx) {
        int column[AROUND_Y];
#pragma unroll
        for (int r = 0; r < AROUND_Y; ++r) column[r] = inputs[(g * AROUND_Y + r) * AROUND_X + lane + dx];
#pragma unroll
        for (int dy = 0; dy < 3; ++dy)
#pragma unroll
          for (int o = 0; o < OUTS; o += 4) {
            const int4 w = filters[(((3 * dy + dx) * CHUNK + g) * OUTS_OF_GROUP + own_out + o) / 4];
#pragma unroll
            for (int r = 0; r < TILE_Y; ++r) {
              sums[r][o] = dot4(column[r + dy], w.x, sums[r][o]);
              sums[r][o + 1] = dot4(column[r + dy], w.y, sums[r][o + 1]);
              sums[r][o + 2] = dot4(column[r + dy], w.z, sums[r][o + 2]);
              sums[r][o + 3] = dot4(column[r + dy], w.w, sums[r][o + 3]);
            }
          }
      }
  }

  const int x = first_x + lane;
  if (x >= width) return;
  const int whole = channels % 4 == 0 && after_layout.pitch % 4 == 0 && (ulong)(after + after_layout.offset) % 4 == 0;
#pragma unroll
  for (int r = 0; r < TILE_Y; ++r)
#pragma unroll
    for (int o = 0; o < OUTS; o += 4) {
      const int channel = first_out + own_out + o;
      if (first_y + r >= height || channel >= channels) continue;
      int word = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        word |= (clamp((sums[r][o + j] + (1 << (shift - 1))) >> shift, low, 127) & 255) << (8 * j);
      GLOBAL signed char* to = &PIXEL(after, (long)x * channels + channel, first_y + r);
      if (whole)
        *(GLOBAL int*)to = word;
      else
        for (int j = 0; j < min(4, channels - channel); ++j) to[j] = (signed char)(word << (24 - 8 * j) >> 24);
    }
}

KERNEL(costs)(ARRAY(const int, left), ARRAY(const int, right), ARRAY(uchar, costs), int width, int height, int groups,
              int disparities, int min_disparity, int offset, int scale, int shift, int limit) {
  LOCAL int own[CHUNK * PIXELS];
  LOCAL int other[CHUNK * (PIXELS + CANDIDATES)];
  DOTS_OF_TILE(left, right, width, height, groups, disparities, min_disparity, own, other)
  if (y >= height || first_k + own_k >= disparities) return;
  const int whole = in_runs(ELEMENTS(costs), disparities);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first_x + own_x + i >= width) continue;
    Run run;
#pragma unroll
    for (int k = 0; k < 4; ++k) run.of[k] = (uchar)cost_of_dot(dots[i][k], offset, scale, shift, limit);
    store_run(ELEMENTS(costs) + (row + first_x + own_x + i) * disparities + first_k + own_k, run,
              disparities - first_k - own_k, whole);
  }
}
