// Left-right check and 3×3 median: left_right_median.hpp. A warp walks down several rows, with one lane per column. The
// outer lanes only check pixels, which the medians of their neighbours need.
#include "device/gpu/vocabulary.h"
#include "fused/left_right_median/left_right_median_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::left_right_median;

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int rows = tuning.rows, warps = tuning.warps;

constexpr uchar failed = 2;  // value of validity::left_right
constexpr unsigned everywhere = ~0u;

// Integer keys with the order of the floats, where −0 is read as +0. The key of an invalid pixel is larger than the
// keys of all disparities.
constexpr int above_all = 0x7fffffff, below_all = ~above_all;
__device__ __forceinline__ int key_of(float d) {
  const int bits = __float_as_int(d + 0.0f);
  return d == d ? bits ^ (bits >> 31 & 0x7fffffff) : above_all;
}
__device__ __forceinline__ float value_of(int key) { return __int_as_float(key ^ (key >> 31 & 0x7fffffff)); }

// Three keys in ascending order.
struct Triple {
  int low, mid, high, invalid;
};
__device__ __forceinline__ Triple sorted(int a, int b, int c) {
  const int low = __vimin3_s32(a, b, c), high = __vimax3_s32(a, b, c);
  const int mid = a ^ b ^ c ^ low ^ high;
  return {low, mid, high, (low == above_all) + (mid == above_all) + (high == above_all)};
}
__device__ __forceinline__ int middle(int a, int b, int c) { return sorted(a, b, c).mid; }
// Moves n of the invalid keys, which come last, below all other keys.
__device__ __forceinline__ Triple lowered(const Triple& t, int n) {
  const int mid = n == 1 ? t.low : below_all, high = n == 1 ? t.mid : t.low;
  return {n == 0 ? t.low : below_all, n == 0 ? t.mid : mid, n == 0 ? t.high : high, 0};
}
__device__ __forceinline__ int middle_of_nine(const Triple& p, const Triple& q, const Triple& r) {
  return middle(__vimax3_s32(p.low, q.low, r.low), middle(p.mid, q.mid, r.mid), __vimin3_s32(p.high, q.high, r.high));
}
// Computes the median as stages/median defines it. If half of the invalid pixels, or half plus one, have keys below all
// others, the middle of the nine keys is the median of the valid values.
__device__ __forceinline__ int median_of(const Triple& p, const Triple& q, const Triple& r) {
  const int in_p = p.invalid + 1, in_q = q.invalid + (in_p & 1), in_r = r.invalid + (in_q & 1);
  return middle_of_nine(lowered(p, in_p >> 1), lowered(q, in_q >> 1), lowered(r, in_r >> 1));
}

// Applies stages/left_right to a column: disparities that fail, from row y0 − 1 on, become invalid. Failures in the
// rows between the first and the last are marked in the validity if the column belongs to the warp.
__device__ __forceinline__ void check_rows(float (&d)[rows + 2], int x, int y0, bool own, IMAGE(const float, right),
                                           IMAGE(const float, disparity), IMAGE(uchar, validity), float threshold) {
  const int width = WIDTH(disparity), height = HEIGHT(disparity), before = max(y0 - 1, 0);
  const auto step = [&](int r, long pitch) { return (unsigned)(y0 - 1 + r) < (unsigned)(height - 1) ? pitch : 0; };
  const float* from = &PIXEL(disparity, x, before);
#pragma unroll
  for (int r = 0; r < rows + 2; ++r) {
    d[r] = *from;
    from += step(r, disparity_layout.pitch);
  }
  uchar* const flag = &PIXEL(validity, x, y0);
  uchar flags[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) flags[r] = y0 + r < height ? flag[r * validity_layout.pitch] : 0;
  float opposite[rows + 2];
  from = &PIXEL(right, 0, before);
#pragma unroll
  for (int r = 0; r < rows + 2; ++r) {
    const unsigned x_right = x - (unsigned)__float2int_rd(d[r] + 0.5f);  // saturates
    const float there = from[min(x_right, width - 1)];
    opposite[r] = x_right < width ? there : INVALID;
    from += step(r, right_layout.pitch);
  }
#pragma unroll
  for (int r = 0; r < rows + 2; ++r) {
    const bool fails = d[r] == d[r] && !(fabsf(d[r] - opposite[r]) <= threshold);
    if (fails) d[r] = INVALID;
    if (r > 0 && r <= rows && fails && own && y0 - 1 + r < height)
      flag[(r - 1) * validity_layout.pitch] = flags[r - 1] | failed;
  }
}

extern "C" __global__ void __launch_bounds__(32 * warps)
    left_right_median_w3(IMAGE(const float, right), IMAGE(const float, disparity), IMAGE(uchar, validity),
                         IMAGE(float, filtered), float threshold) {
  const int width = WIDTH(disparity), height = HEIGHT(disparity);
  const int lane = threadIdx.x % 32, column = blockIdx.x * columns - 1 + lane, x = clamp(column, 0, width - 1);
  const int y0 = (blockIdx.y * warps + threadIdx.x / 32) * rows;
  if (y0 >= height) return;
  const bool own = lane > 0 && lane <= columns && column < width;
  float d[rows + 2];
  check_rows(d, x, y0, own, right, right_layout, disparity, disparity_layout, validity, validity_layout, threshold);
  Triple row[3];
  int key[2];
  float* to = &PIXEL(filtered, x, y0);
#pragma unroll
  for (int r = 0; r < rows + 2; ++r) {
    const int here = key_of(d[r]);
    row[r % 3] = sorted(__shfl_up_sync(everywhere, here, 1), here, __shfl_down_sync(everywhere, here, 1));
    key[r % 2] = here;
    if (r < 2) continue;
    const int centre = key[(r + 1) % 2];
    if (own && y0 + r - 2 < height)
      *to = centre == above_all ? INVALID : value_of(median_of(row[(r + 1) % 3], row[(r + 2) % 3], row[r % 3]));
    to += filtered_layout.pitch;
  }
}
