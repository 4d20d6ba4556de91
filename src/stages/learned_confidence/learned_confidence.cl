// Learned confidence: learned_confidence.hpp. An int packs four channels of a pixel, with one byte each.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/shared/dot4.cl.h"

#define NOTHING (-(1 << 29))
#define ZERO (1 << 16)  // `nearest` holds the least ZERO − d
#define GROUPS 8
#define EVIDENCE_GROUPS 6

FUNCTION int in_16ths(float disparity) {
  return fabs(disparity) < 32768.0f ? (int)floor(disparity * 16.0f + 0.5f) : NOTHING;
}
FUNCTION int limited(int v) { return clamp(v, 0, 127); }

// A word packs a pixel: Q << 9 (invalid pixels have INVALID_Q), plus 256 if the pixel is measured, plus the value of the
// left image. |Q| of valid pixels is at most 2¹⁹.
#define INVALID_Q (-(1 << 21))
#define Q_OF(word) ((word) >> 9)
#define IS_MEASURED(word) ((word)&256)

// Packs the pixels, and finds, for each right pixel, the largest whole disparity d of the left pixels that correspond to
// the right pixel.
KERNEL(pack)(IMAGE(const float, disparity), IMAGE(const uchar, validity), IMAGE(const uchar, left), ARRAY(int, nearest),
             ARRAY(int, packed)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const long row = (long)y * width;
  const int q = in_16ths(PIXEL(disparity, x, y)), d = (q + 8) >> 4, u = x - d;
  const int is_measured = q != NOTHING && PIXEL(validity, x, y) == 0;
  ELEMENTS(packed)[row + x] = (q == NOTHING ? INVALID_Q : q) * 512 + 256 * is_measured + PIXEL(left, x, y);
  if (q != NOTHING && u >= 0 && u < width) atomic_min(&ELEMENTS(nearest)[row + u], ZERO - d);
}

// The images from which the evidence is computed, and a pixel.
#define SOURCES                                                                                                \
  IMAGE(const float, disparity), IMAGE(const uchar, validity), IMAGE(const uchar, left), IMAGE(const uchar, right)
#define GIVEN_SOURCES                                                                                          \
  disparity, disparity_layout, validity, validity_layout, left, left_layout, right, right_layout
#define INSIDE_X(column) clamp(column, 0, WIDTH(disparity) - 1)
#define INSIDE_Y(row) clamp(row, 0, HEIGHT(disparity) - 1)
#define LEFT(x, y) ((int)PIXEL(left, INSIDE_X(x), INSIDE_Y(y)))
#define RIGHT(x, y) ((int)PIXEL(right, INSIDE_X(x), INSIDE_Y(y)))

// Returns the agreement of the valid pixels around (x, y), plus 128 times that of measured pixels.
FUNCTION int agreements(GLOBAL const int* packed, int width, int height, int x, int y, int distance, int reach,
                        int tolerance) {
  const int own = packed[(long)y * width + x];
  int all = 0, agreeing = 0;  // the lower half has the sum of valid pixels, the upper half that of measured ones
  for (int j = -reach; j <= reach; ++j) {
    const int row = y + distance * j;
    if (row < 0 || row >= height) continue;
    for (int i = -reach; i <= reach; ++i) {
      const int column = x + distance * i;
      if (column < 0 || column >= width || (i == 0 && j == 0)) continue;
      const int word = packed[(long)row * width + column];
      const int weight = 64 >> min((int)abs((word & 255) - (own & 255)) >> 3, 6);
      all += weight;
      agreeing += (int)abs(Q_OF(word) - Q_OF(own)) <= tolerance ? weight * (1 | IS_MEASURED(word) << 8) : 0;
    }
  }
  if (agreeing == 0) return 0;
  return (127 * (agreeing & 0xFFFF) + all / 2) / all | (127 * (agreeing >> 16) + all / 2) / all << 7;
}

FUNCTION int texture(SOURCES, int x, int y) {
  int sum = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) {
      const int column = INSIDE_X(x + i);
      sum += abs(LEFT(column + 1, y + j) - LEFT(column - 1, y + j));
    }
  return min(sum >> 2, 127);
}

// Returns the evidence that compares the views: channels 5 to 8.
FUNCTION int comparison(SOURCES, int x, int y, int d) {
  int sums[5] = {0, 0, 0, 0, 0}, count = 0;
  const int own_left = LEFT(x, y), own_right = RIGHT(x - d, y);
#pragma unroll
  for (int j = -2; j <= 2; ++j) {
    int there[7];
#pragma unroll
    for (int i = 0; i < 7; ++i) there[i] = RIGHT(x - d + i - 3, y + j);
#pragma unroll
    for (int i = -2; i <= 2; ++i) {
      const int here = LEFT(x + i, y + j);
      count += (here < own_left) != (there[i + 3] < own_right);
      if (i * i <= 1 && j * j <= 1)
#pragma unroll
        for (int k = -2; k <= 2; ++k) sums[k + 2] += abs(here - there[i - k + 3]);
    }
  }
  return min(sums[2] >> 2, 127) | 5 * count << 8 | limited(64 + ((min(sums[0], sums[4]) - sums[2]) >> 2)) << 16 |
         limited(64 + ((min(sums[1], sums[3]) - sums[2]) >> 2)) << 24;
}

FUNCTION int step_to(GLOBAL const int* packed, int width, int height, int x, int y, int own_q) {
  const int q = Q_OF(packed[(long)clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)]);
  return q == INVALID_Q ? 64 : limited(64 + ((q - own_q) >> 1));
}

// Defines a kernel with groups of 32×8 work-items. The compiler of CUDA limits its registers, so that four groups run at
// a time.
#ifdef __CUDACC__
#define BUSY_KERNEL(name) extern "C" __global__ void __launch_bounds__(32 * 8, 4) JOINED(name, INSTANCE)
#else
#define BUSY_KERNEL(name) KERNEL(name)
#endif

// Computes the evidence of a pixel and applies layer 0. Pixels of the last column and row also stand for pixels beyond an
// odd width and height.
BUSY_KERNEL(apply_layer_0)(SOURCES, ARRAY(const int, nearest), ARRAY(const int, packed), ARRAY(const int, words),
                           ARRAY(int, pixels)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity), height = HEIGHT(disparity);
  if (x >= width || y >= height) return;
  const long row = (long)y * width;
  GLOBAL const int* const all = ELEMENTS(packed);
  const int own = all[row + x], q = Q_OF(own), d = (q + 8) >> 4, u = x - d;
  int e[EVIDENCE_GROUPS] = {0, 0, 0, 0, 0, 0};
  if (q != INVALID_Q) {
    const int near = agreements(all, width, height, x, y, 1, 2, 16), far = agreements(all, width, height, x, y, 4, 3, 24);
    const uint views = (uint)comparison(GIVEN_SOURCES, x, y, d);
    int occluded = 0;
    if (u >= 0 && u < width) {
      const int z = ZERO - ELEMENTS(nearest)[row + u];
      occluded = limited(8 * min(z - d, 127));
    }
    e[0] = (IS_MEASURED(own) ? 127 : 0) | (near & 127) << 8 | near >> 7 << 16 | (far & 127) << 24;
    e[1] = far >> 7 | (int)(views << 8);
    e[2] = (int)(views >> 24) | texture(GIVEN_SOURCES, x, y) << 8 | occluded << 16 | limited(4 * u) << 24;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int offset = (i < 2 ? 3 : 9) * (i % 2 == 0 ? -1 : 1);
      e[3] |= step_to(all, width, height, x + offset, y, q) << (8 * i);
      e[4] |= step_to(all, width, height, x, y + offset, q) << (8 * i);
    }
    e[5] = (own & 255) >> 1;
  }
  const int half_width = (width + 1) / 2, last_x = x == width - 1 && x % 2 == 0, last_y = y == height - 1 && y % 2 == 0;
  GLOBAL uchar* const to = (GLOBAL uchar*)(ELEMENTS(pixels) + ((long)(y / 2) * half_width + x / 2) * GROUPS);
  GLOBAL const int* const weights = ELEMENTS(words);
#pragma unroll
  for (int o = 0; o < 8; ++o) {
    int sum = weights[o] + 64;
#pragma unroll
    for (int g = 0; g < EVIDENCE_GROUPS; ++g) sum = dot4(e[g], weights[8 * (g + 1) + o], sum);
    const uchar value = (uchar)limited(sum >> 7);
    for (int j = y % 2; j <= y % 2 + last_y; ++j)
      for (int i = x % 2; i <= x % 2 + last_x; ++i) to[4 * o + 2 * j + i] = value;
  }
}

// Ways in which a convolution reads the input, with the values of learned_confidence_gpu.cpp.
#define AS_IT_IS 0
#define HALVED 1
#define DOUBLED_AND_ADDED 2

// Returns the sums of two bytes at even places, and the sums of two bytes at odd places.
#define EVEN(word) ((word)&0x00FF00FFu)
#define ODD(word) ((word) >> 8 & 0x00FF00FFu)

FUNCTION int read(GLOBAL const int* from, GLOBAL const int* added, int width, int from_width, int from_height, int x, int y,
                  int group, int reading) {
  if (reading == AS_IT_IS) return from[((long)y * from_width + x) * GROUPS + group];
  if (reading == HALVED) {
    const int right = min(2 * x + 1, from_width - 1), below = min(2 * y + 1, from_height - 1);
    const uint a = from[((long)(2 * y) * from_width + 2 * x) * GROUPS + group];
    const uint b = from[((long)(2 * y) * from_width + right) * GROUPS + group];
    const uint c = from[((long)below * from_width + 2 * x) * GROUPS + group];
    const uint e = from[((long)below * from_width + right) * GROUPS + group];
    const uint even = (EVEN(a) + EVEN(b) + EVEN(c) + EVEN(e) + 0x00020002u) >> 2;
    const uint odd = (ODD(a) + ODD(b) + ODD(c) + ODD(e) + 0x00020002u) >> 2;
    return (int)(EVEN(even) | EVEN(odd) << 8);
  }
  const uint a = from[((long)(y / 2) * from_width + x / 2) * GROUPS + group];
  const uint b = added[((long)y * width + x) * GROUPS + group];
  return (int)((a | b) - (((a ^ b) >> 1) & 0x7F7F7F7Fu));  // (a + b + 1) >> 1 of each byte
}

// A group of 128 work-items computes all outputs of a tile.
#define TILE_X 32
#define TILE_Y 4
#define AROUND_X (TILE_X + 2)
#define AROUND_Y (TILE_Y + 2)
#define LIMITED_BYTE(sum, low) (clamp(((sum) + 64) >> 7, low, 127) & 255)

#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800

// Adds the products of 16×32 and 32×8 bytes to 16×8 sums, of which each lane of the warp has four.
FUNCTION void multiply_add(int* sums, const int* a, int2 b) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}

// Tensor cores multiply the 32 channels of 16 pixels of a row by the filters of 8 outputs. A warp computes a row of the
// tile. Column n of matrix t is output 8 ⌊n / 2⌋ + 2 t + n % 2, so that a lane has 8 successive outputs. If there are 4
// outputs, column n is output n.
#define STRIDE (GROUPS + 4)  // words from pixel to pixel, so that the lanes of a warp read different banks
#define OUTPUT(n, t) (out == 4 ? (n) + 8 * (t) : 8 * ((n) / 2) + 2 * (t) + (n) % 2)

KERNEL(convolve)(ARRAY(const int, from), ARRAY(const int, added), ARRAY(const int, words), ARRAY(int, to), int width, int height,
                 int from_width, int from_height, int out, int reading) {
  LOCAL int inputs[AROUND_Y * AROUND_X * STRIDE];
  LOCAL int2 filters[9 * 4 * 32];
  const int first_x = group_id(0) * TILE_X, first_y = group_id(1) * TILE_Y;
  const int lane = local_id(0) % 32, row_of_tile = local_id(0) / 32, place = lane / 4, quarter = lane % 4;
  GLOBAL const int* const biases = ELEMENTS(words);
  for (int i = local_id(0); i < AROUND_Y * AROUND_X * GROUPS; i += 128) {
    const int group = i % GROUPS, column = i / GROUPS % AROUND_X, row = i / GROUPS / AROUND_X;
    const int x = clamp(first_x + column - 1, 0, width - 1), y = clamp(first_y + row - 1, 0, height - 1);
    inputs[(row * AROUND_X + column) * STRIDE + group] =
        read(ELEMENTS(from), ELEMENTS(added), width, from_width, from_height, x, y, group, reading);
  }
  for (int i = local_id(0); i < 9 * 4 * 32 * 2; i += 128) {
    const int group = i / 2 % 4 + 4 * (i % 2), n = i / 8 % 8, t = i / 64 % 4, tap = i / 256, o = OUTPUT(n, t);
    ((LOCAL_POINTER int*)filters)[i] = o < out ? biases[out + (tap * GROUPS + group) * out + o] : 0;
  }
  BARRIER();
  int sums[2][4][4];
#pragma unroll
  for (int t = 0; t < 4; ++t)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int o = OUTPUT(2 * quarter + i % 2, t);
      sums[0][t][i] = sums[1][t][i] = o < out ? biases[o] : 0;
    }
#pragma unroll
  for (int tap = 0; tap < 9; ++tap) {
    int a[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        a[half][i] = inputs[((row_of_tile + tap / 3) * AROUND_X + 16 * half + 8 * (i % 2) + place + tap % 3) * STRIDE +
                            quarter + 4 * (i / 2)];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      if (t > 0 && out == 4) break;
      const int2 b = filters[(tap * 4 + t) * 32 + lane];
      multiply_add(sums[0][t], a[0], b);
      multiply_add(sums[1][t], a[1], b);
    }
  }
  const int y = first_y + row_of_tile;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int half = i / 2, first = 2 * (i % 2), x = first_x + 8 * i + place;
    const long pixel = (long)y * width + x;
    if (x >= width || y >= height) continue;
    if (out == 4) {
      const int both = LIMITED_BYTE(sums[half][0][first], -127) | LIMITED_BYTE(sums[half][0][first + 1], -127) << 8;
      if (quarter < 2) ((GLOBAL ushort*)(ELEMENTS(to) + pixel))[quarter] = (ushort)both;
      continue;
    }
    int2 made = {0, 0};
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const int both = LIMITED_BYTE(sums[half][t][first], 0) | LIMITED_BYTE(sums[half][t][first + 1], 0) << 8;
      if (t < 2)
        made.x |= both << 16 * t;
      else
        made.y |= both << 16 * (t - 2);
    }
    ((GLOBAL int2*)(ELEMENTS(to) + pixel * GROUPS))[quarter] = made;
  }
}

#else

// A work-item computes 8 outputs for the rows of its column.
#define OUTS 8
#define CHUNK 4

KERNEL(convolve)(ARRAY(const int, from), ARRAY(const int, added), ARRAY(const int, words), ARRAY(int, to), int width, int height,
                 int from_width, int from_height, int out, int reading) {
  LOCAL int inputs[CHUNK * AROUND_Y * AROUND_X];
  LOCAL int4 filters[9 * CHUNK * 32 / 4];
  const int first_x = group_id(0) * TILE_X, first_y = group_id(1) * TILE_Y;
  const int lane = local_id(0) % TILE_X, own_out = local_id(0) / TILE_X * OUTS;
  GLOBAL const int* const biases = ELEMENTS(words);
  int sums[TILE_Y][OUTS];
#pragma unroll
  for (int o = 0; o < OUTS; ++o) {
    const int bias = own_out + o < out ? biases[own_out + o] : 0;
#pragma unroll
    for (int r = 0; r < TILE_Y; ++r) sums[r][o] = bias;
  }
  for (int group = 0; group < GROUPS; group += CHUNK) {
    BARRIER();
    for (int i = local_id(0); i < AROUND_Y * AROUND_X * CHUNK; i += 128) {
      const int g = i % CHUNK, column = i / CHUNK % AROUND_X, row = i / CHUNK / AROUND_X;
      const int x = clamp(first_x + column - 1, 0, width - 1), y = clamp(first_y + row - 1, 0, height - 1);
      inputs[(g * AROUND_Y + row) * AROUND_X + column] =
          read(ELEMENTS(from), ELEMENTS(added), width, from_width, from_height, x, y, group + g, reading);
    }
    for (int i = local_id(0); i < 9 * CHUNK * 32; i += 128) {
      const int o = i % 32, g = i / 32 % CHUNK, tap = i / 32 / CHUNK;
      ((LOCAL_POINTER int*)filters)[i] = o < out ? biases[out + (tap * GROUPS + group + g) * out + o] : 0;
    }
    BARRIER();
    if (own_out < out)
      for (int g = 0; g < CHUNK; ++g)
#pragma unroll
        for (int dx = 0; dx < 3; ++dx) {
          int column[AROUND_Y];
#pragma unroll
          for (int r = 0; r < AROUND_Y; ++r) column[r] = inputs[(g * AROUND_Y + r) * AROUND_X + lane + dx];
#pragma unroll
          for (int dy = 0; dy < 3; ++dy)
#pragma unroll
            for (int o = 0; o < OUTS; o += 4) {
              const int4 w = filters[(((3 * dy + dx) * CHUNK + g) * 32 + own_out + o) / 4];
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
  const int x = first_x + lane, low = out == 4 ? -127 : 0;
  if (x >= width) return;
#pragma unroll
  for (int r = 0; r < TILE_Y; ++r)
#pragma unroll
    for (int o = 0; o < OUTS; o += 4) {
      if (first_y + r >= height || own_out + o >= out) continue;
      int word = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) word |= LIMITED_BYTE(sums[r][o + j], low) << (8 * j);
      ELEMENTS(to)[((long)(first_y + r) * width + x) * (out / 4) + (own_out + o) / 4] = word;
    }
}

#endif

// Writes the probabilities of the logits. The probabilities begin with that of the logit −127.
KERNEL(look_up)(IMAGE(const float, disparity), ARRAY(const int, logits), ARRAY(const int, probability), IMAGE(float, confidence)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(confidence);
  if (x >= width || y >= HEIGHT(confidence)) return;
  const int four = ELEMENTS(logits)[(long)(y / 2) * ((width + 1) / 2) + x / 2], byte = 2 * (y % 2) + x % 2;
  const float p = float_of_bits(ELEMENTS(probability)[((int)((uint)four << (24 - 8 * byte)) >> 24) + 127]);
  PIXEL(confidence, x, y) = in_16ths(PIXEL(disparity, x, y)) == NOTHING ? 0.0f : p;
}
