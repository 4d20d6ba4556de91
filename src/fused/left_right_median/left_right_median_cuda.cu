// Left-right check and 3×3 median: left_right_median.hpp. A block checks a tile and the pixels around it into shared
// memory; a thread takes the medians of four rows.
#include "device/gpu/vocabulary.h"

constexpr int tile_width = 32, tile_height = 32, rows = 4;  // rows of a thread
constexpr int threads = tile_width * tile_height / rows;
constexpr int pitch = tile_width + 2, lines = tile_height + 2;
constexpr uchar failed = 2;  // validity::left_right

// stages/left_right.
__device__ __forceinline__ bool stands(float d, int x, int y, IMAGE(const float, right), float threshold) {
  const float whole = floorf(d + 0.5f);
  if (!(fabsf(whole) < 1e9f)) return false;  // further away is outside
  const int x_right = x - (int)whole;
  return x_right >= 0 && x_right < WIDTH(right) && fabsf(d - PIXEL(right, x_right, y)) <= threshold;
}

__device__ __forceinline__ void exchange(float& a, float& b) {
  const float low = fminf(a, b), high = fmaxf(a, b);
  a = low, b = high;
}

// stages/median of nine values, those that are invalid being infinite: its rank depends on how many are valid.
__device__ __forceinline__ float median_of(float (&v)[9], int valid) {
  // Batcher's merge exchange.
  constexpr int pairs[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {1, 2}, {5, 6},
                              {0, 4}, {1, 5}, {2, 6}, {3, 7}, {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}, {0, 8},
                              {4, 8}, {2, 4}, {3, 5}, {6, 8}, {1, 2}, {3, 4}, {5, 6}, {7, 8}};
#pragma unroll
  for (int i = 0; i < 28; ++i) exchange(v[pairs[i][0]], v[pairs[i][1]]);
  const int middle = (valid - 1) / 2;
  float result = v[0];
#pragma unroll
  for (int i = 1; i < 5; ++i)
    if (i == middle) result = v[i];
  return result;
}

extern "C" __global__ void __launch_bounds__(threads)
    left_right_median_w3(IMAGE(const float, right), IMAGE(const float, disparity), IMAGE(uchar, validity),
                         IMAGE(float, filtered), float threshold) {
  __shared__ float checked[lines * pitch];
  const int x0 = blockIdx.x * tile_width, y0 = blockIdx.y * tile_height;
  const int width = WIDTH(disparity), height = HEIGHT(disparity);
  for (int i = threadIdx.x; i < lines * pitch; i += threads) {
    const int inner_x = i % pitch - 1, inner_y = i / pitch - 1;
    const int x = clamp(x0 + inner_x, 0, width - 1), y = clamp(y0 + inner_y, 0, height - 1);
    float d = PIXEL(disparity, x, y);
    if (d == d && !stands(d, x, y, right, right_layout, threshold)) {
      d = INVALID;
      const bool own = inner_x >= 0 && inner_x < tile_width && inner_y >= 0 && inner_y < tile_height;
      if (own && x == x0 + inner_x && y == y0 + inner_y) PIXEL(validity, x, y) |= failed;
    }
    checked[i] = d == 0.0f ? 0.0f : d;  // −0 is read as +0
  }
  __syncthreads();

  const int column = threadIdx.x % tile_width, row = threadIdx.x / tile_width * rows, x = x0 + column;
  if (x >= width) return;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int y = y0 + row + r;
    if (y >= height) return;
    float v[9];
    int valid = 0;
#pragma unroll
    for (int i = 0; i < 9; ++i) {
      const float d = checked[(row + r + i / 3) * pitch + column + i % 3];
      valid += d == d;
      v[i] = d == d ? d : __int_as_float(0x7F800000);
    }
    const float centre = checked[(row + r + 1) * pitch + column + 1];
    PIXEL(filtered, x, y) = centre == centre ? median_of(v, valid) : INVALID;
  }
}
