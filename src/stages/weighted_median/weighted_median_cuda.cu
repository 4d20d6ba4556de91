// Weighted median of filled pixels. One warp per pixel holds the keys and weights of the pixel's window in registers.
// As in the portable kernel, the bits of the median's key are found from the highest bit down. The number of filled
// pixels varies between blocks, so that the warps of a block take pixels from a list.
#include "device/cuda/words.cuh"
#include "stages/weighted_median/weighted_median_cuda_problem.hpp"

namespace stereopsis::weighted_median {
namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int block_columns = tuning.block_columns, block_rows = tuning.block_rows, block_warps = tuning.block_warps;
constexpr int small_radius = tuning.small_radius;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// Maps floats to keys in the same order.
__device__ __forceinline__ u32 key_of(float value) {
  const u32 bits = __float_as_uint(value + 0.0f);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float of_key(u32 key) {
  return __uint_as_float((key >> 31) != 0 ? key & 0x7FFFFFFFu : ~key);
}

// Weights that depend on the distance along an axis, and on a colour difference.
struct Tables {
  u16 colour[256], distance[32];
};

__device__ __forceinline__ u32 weight_of(const Problem& p, const Tables& tables, const u8* own, int u, int v, int dx,
                                         int dy) {
  const int last = p.channels - 1, middle = min(1, last);
  const u8* other = p.image + v * p.image_pitch + u * p.channels;
  const auto colour = [&](int c) -> u32 { return tables.colour[abs(own[c] - other[c])]; };
  const u32 space = (u32)tables.distance[abs(dx)] * tables.distance[abs(dy)] >> 16;
  const u32 all = (colour(0) * colour(middle) >> 16) * colour(last) >> 16;
  return max(space * all >> 16, 1u);
}

// Returns the median of the window around (x, y), computed by a warp. kRadius is the largest radius.
template <int kRadius>
__device__ __forceinline__ float median(const Problem& p, const Tables& tables, int x, int y) {
  constexpr int per_lane = ((2 * kRadius + 1) * (2 * kRadius + 1) + 31) / 32;
  const int lane = threadIdx.x & 31, side = 2 * p.radius + 1, count = side * side;
  const u32 inverse = ((1u << 20) + side - 1) / side;  // reciprocal of `side`, exact for numbers below `count`
  const u32 own_key = key_of(p.disparity[y * p.disparity_pitch + x]);
  const u8* own = p.image + y * p.image_pitch + x * p.channels;
  u32 keys[per_lane], weights[per_lane], total = 0, varying = 0;
#pragma unroll
  for (int i = 0; i < per_lane; ++i) {
    keys[i] = own_key;
    weights[i] = 0;
    if (32 * i >= count) continue;
    const int n = 32 * i + lane, dy = (int)(n * inverse >> 20) - p.radius, dx = n - (dy + p.radius) * side - p.radius;
    const int u = x + dx, v = y + dy;
    if (n >= count || u < 0 || u >= p.width || v < 0 || v >= p.height) continue;
    const float d = p.disparity[v * p.disparity_pitch + u];
    if (d != d) continue;
    keys[i] = key_of(d);
    weights[i] = weight_of(p, tables, own, u, v, dx, dy);
    total += weights[i];
    varying |= keys[i] ^ own_key;
  }
  total = __reduce_add_sync(all_lanes, total);
  varying = __reduce_or_sync(all_lanes, varying);

  u32 key = own_key & ~varying;
  while (varying != 0) {
    const u32 bit = 0x80000000u >> __clz(varying), tried = key | bit;
    u32 below = 0;
#pragma unroll
    for (int i = 0; i < per_lane; ++i)
      if (32 * i < count) below += keys[i] < tried ? weights[i] : 0;
    if (2 * __reduce_add_sync(all_lanes, below) < total) key = tried;
    varying ^= bit;
  }
  return of_key(key);
}

template <int kRadius>
__device__ __forceinline__ void filter(const Problem& p) {
  constexpr int filled = 64;
  __shared__ Tables tables;
  __shared__ u8 list[block_columns * block_rows];
  __shared__ int listed, taken;
  const int thread = threadIdx.x, lane = thread & 31;
  if (thread == 0) listed = taken = 0;
  for (int i = thread; i < 256; i += 32 * block_warps) tables.colour[i] = p.colour[i];
  if (thread < 32) tables.distance[thread] = p.distance[thread];
  __syncthreads();
  const int x0 = blockIdx.x * block_columns, y0 = blockIdx.y * block_rows;
  if (thread < block_columns * block_rows) {
    const int x = x0 + thread % block_columns, y = y0 + thread / block_columns;
    if (x < p.width && y < p.height) {
      const float here = p.disparity[y * p.disparity_pitch + x];
      p.filtered[y * p.filtered_pitch + x] = here;
      if ((p.validity[y * p.validity_pitch + x] & filled) != 0 && here == here)
        list[atomicAdd(&listed, 1)] = (u8)thread;
    }
  }
  __syncthreads();
  while (true) {
    int next = lane == 0 ? atomicAdd(&taken, 1) : 0;
    next = __shfl_sync(all_lanes, next, 0);
    if (next >= listed) return;
    const int x = x0 + list[next] % block_columns, y = y0 + list[next] / block_columns;
    const float result = median<kRadius>(p, tables, x, y);
    if (lane == 0) p.filtered[y * p.filtered_pitch + x] = result;
  }
}

}  // namespace
}  // namespace stereopsis::weighted_median

using namespace stereopsis::weighted_median;

extern "C" {

__global__ void __launch_bounds__(32 * block_warps) weighted_median_small(const __grid_constant__ Problem p) {
  filter<small_radius>(p);
}
__global__ void __launch_bounds__(32 * block_warps) weighted_median_large(const __grid_constant__ Problem p) {
  filter<large_radius>(p);
}

}  // extern "C"
