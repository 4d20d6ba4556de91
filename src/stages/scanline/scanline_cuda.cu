// Scanline optimisation as tuned CUDA kernels. A block of two warps walks along a line from both ends at the same time.
// From the middle on, each warp adds its path costs to the sums that the other warp has stored. Rows are processed
// first, and need not read sums. A lane holds four or eight adjacent disparities, in pairs of 16 bits. Loads for the
// next pixels are in flight while the current pixels are processed.
//
// The penalty of a cell is selected by the instruction PRMT. The selector of the instruction is the sum of the left
// pixel's selector for a word and the right pixel's selector for each byte. Right marks are stored from right to left,
// so that disparities increase. There is one copy for each offset in a word.
#include <type_traits>

#include "device/cuda/words.cuh"
#include "stages/scanline/scanline_cuda_problem.hpp"

namespace stereopsis::scanline {
namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int mark_items = tuning.mark_items, path_blocks = tuning.path_blocks;

// Selectors for 16 bits of p1 and of p2.
constexpr u32 none_differs = 0x10101010, one_more = 0x22222222;

__device__ __forceinline__ bool differ(const u8* a, const u8* b, int channels, int colour) {
  int largest = 0;
  for (int c = 0; c < channels; ++c) largest = max(largest, abs((int)a[c] - (int)b[c]));
  return largest >= colour;
}

extern __shared__ u8 row_marks[];  // marks of the right view, along rows and along columns

// There is one more row and one more column than pixels, because backward paths read the mark after a pixel.
__device__ __forceinline__ void make_marks(const Problem& p) {
  const int y = blockIdx.x, above = max(min(y, p.height - 1) - 1, 0), row = min(y, p.height - 1);
  const u8 *left = p.left + row * p.left_pitch, *left_above = p.left + above * p.left_pitch;
  const u8 *right = p.right + row * p.right_pitch, *right_above = p.right + above * p.right_pitch;
  const auto mark = [&](const u8* a, const u8* b) { return differ(a, b, p.channels, p.colour) ? one_more : 0; };
  for (int x = threadIdx.x; x < p.left_words; x += blockDim.x) {
    const int own = min(x, p.width - 1) * p.channels, before = max(min(x, p.width - 1) - 1, 0) * p.channels;
    const i64 to = y * (i64)p.left_words + x;
    p.left_marks[0][to] = none_differs + mark(left + own, left + before);
    p.left_marks[1][to] = none_differs + mark(left + own, left_above + own);
    if (x < p.width) {
      row_marks[x] = (u8)mark(right + own, right + before);
      row_marks[p.width + x] = (u8)mark(right + own, right_above + own);
    }
  }
  __syncthreads();
  const u8 same = p.colour == 0 ? (u8)one_more : 0;
  for (int i = threadIdx.x; i < p.right_words; i += blockDim.x)
    for (int copy = 0; copy < 4; ++copy) {
      u32 beside = 0, over = 0;
      for (int j = 0; j < 4; ++j) {
        const int x = p.width - (4 * i + j - (-copy & 3)) - p.min_disparity;
        beside |= (u32)(x > 0 && x < p.width ? row_marks[x] : same) << 8 * j;
        over |= (u32)row_marks[p.width + min(max(x, 0), p.width - 1)] << 8 * j;
      }
      const i64 to = (4 * (i64)y + copy) * p.right_words + i;
      p.right_marks[0][to] = beside;
      p.right_marks[1][to] = over;
    }
}

// Advances a pointer by `n` steps. Pointers are 64-bit numbers, so that one instruction is sufficient.
__device__ __forceinline__ u64 ahead(u64 from, int step, int n) {
  u64 address;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(address) : "r"(step), "r"(n), "l"(from));
  return address;
}
// Hides from the compiler that a number is the same in all lanes. Otherwise, each 64-bit addition would become three
// instructions.
__device__ __forceinline__ int apart(u32 mask, int n) { return __shfl_sync(mask, n, 0); }
__device__ __forceinline__ u32 permute(u32 a, u32 b, u32 selector) {
  u32 result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
}

constexpr int batch = 8;  // number of pixels whose loads are in flight together

// The input data of a pixel.
template <int kQuads>
struct Incoming {
  u32 cost[kQuads], right[kQuads], left;
  uint2 sum[kQuads];
};

template <int kQuads>
__device__ __forceinline__ void load_words(u64 address, u32 (&to)[kQuads]) {
  if constexpr (kQuads == 1)
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(to[0]) : "l"(address));
  else
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(address));
}

template <int kQuads, bool kAlongRow>
struct Path {
  static constexpr int pairs = 2 * kQuads;
  const Problem& p;
  int lane, lanes;
  u32 mask, low_selector, high_selector;
  u32 state[pairs], base;
  u32 p1[2], p2[2];
  int cost_step, sum_step, left_step, right_step;
  u64 costs, sums, left, right[kAlongRow ? 4 : 1];

  __device__ __forceinline__ Path(const Problem& problem) : p(problem) {
    lane = threadIdx.x & 31;
    lanes = p.disparities / (4 * kQuads);
    mask = lanes == 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
    low_selector = lane == 0 ? 0x5476 : 0x5432;
    high_selector = lane == lanes - 1 ? 0x1032 : 0x5432;
    for (int i = 0; i < 2; ++i) {
      p1[i] = p.p1[i];
      p2[i] = p.p2[i];
    }
#pragma unroll
    for (int j = 0; j < pairs; ++j) state[j] = 0;
    base = 0;
  }

  // Moves to a pixel. `direction` is 1 or −1 along the line.
  __device__ __forceinline__ void go_to(int x, int y, int direction) {
    const i64 pixel = (i64)y * p.width + x;
    const int line_step = kAlongRow ? direction : direction * p.width;
    cost_step = apart(mask, line_step * p.disparities);
    sum_step = apart(mask, line_step * p.disparities * 2);
    left_step = (kAlongRow ? direction : direction * p.left_words) * 4;
    right_step = apart(mask, kAlongRow ? -4 * direction : 16 * direction * p.right_words);
    costs = (u64)p.costs + pixel * p.disparities + 4 * kQuads * lane;
    sums = (u64)p.sums + 2 * (pixel * p.disparities + 4 * kQuads * lane);
    const int mx = x + (kAlongRow && direction < 0), my = y + (!kAlongRow && direction < 0);
    left = (u64)(p.left_marks[kAlongRow ? 0 : 1] + (i64)my * p.left_words + mx);
    const auto place = [&](int at) {
      const int from_end = p.width - at;
      return (u64)(p.right_marks[kAlongRow ? 0 : 1] + (4 * (i64)my + (from_end & 3)) * p.right_words +
                   ((from_end + 3) >> 2) + kQuads * lane);
    };
    if (kAlongRow)
      for (int i = 0; i < 4; ++i) right[i] = place(mx + i * direction);
    else
      right[0] = place(mx);
  }

  // Loads the i-th pixel of the current batch.
  template <bool kSums>
  __device__ __forceinline__ void fetch(Incoming<kQuads>& in, int i) const {
    load_words<kQuads>(ahead(costs, cost_step, i), in.cost);
    asm volatile("ld.global.nc.u32 %0, [%1];"
                 : "=r"(in.left)
                 : "l"(kAlongRow ? left + (i64)left_step * i : ahead(left, left_step, i)));
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const u64 from = (kAlongRow ? ahead(right[i % 4], right_step, i / 4) : ahead(right[0], right_step, i)) + 4 * q;
      asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(in.right[q]) : "l"(from));
    }
    if (kSums) {
      const u64 from = ahead(sums, sum_step, i);
      if constexpr (kQuads == 1)
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(in.sum[0].x), "=r"(in.sum[0].y) : "l"(from));
      else
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(in.sum[0].x), "=r"(in.sum[0].y), "=r"(in.sum[kQuads - 1].x), "=r"(in.sum[kQuads - 1].y)
                     : "l"(from));
    }
  }
  __device__ __forceinline__ void next_batch() {
    costs = ahead(costs, cost_step, batch);
    sums = ahead(sums, sum_step, batch);
    left = ahead(left, left_step, batch);
    if (kAlongRow)
      for (int i = 0; i < 4; ++i) right[i] = ahead(right[i], right_step, batch / 4);
    else
      right[0] = ahead(right[0], right_step, batch);
  }

  template <bool kSums>
  __device__ __forceinline__ void visit(const Incoming<kQuads>& in, u64 to) {
    const u32 up = __shfl_up_sync(mask, state[pairs - 1], 1), down = __shfl_down_sync(mask, state[0], 1);
    u32 between[pairs + 1], next[pairs];
    between[0] = permute(up, state[0], low_selector);
    between[pairs] = permute(state[pairs - 1], down, high_selector);
#pragma unroll
    for (int j = 1; j < pairs; ++j) between[j] = permute(state[j - 1], state[j], 0x5432);
#pragma unroll
    for (int j = 0; j < pairs; ++j) {
      const u32 selector = in.right[j / 2] + in.left, which = j % 2 == 0 ? selector : selector >> 16;
      const u32 beside = __viaddmin_u16x2(__vminu2(between[j], between[j + 1]), permute(p1[0], p1[1], which), state[j]);
      const u32 best = __viaddmin_u16x2(base, permute(p2[0], p2[1], which), beside);
      next[j] = best + permute(in.cost[j / 2], 0, j % 2 == 0 ? 0x4140 : 0x4342) - base;
    }
    u32 least = next[0];
#pragma unroll
    for (int j = 0; j < pairs; ++j) {
      state[j] = next[j];
      if (j > 0) least = __vminu2(least, next[j]);
    }
    least = __vminu2(least, permute(least, 0, 0x1032));
    base = __reduce_min_sync(mask, least);
    if constexpr (kQuads == 1) {
      const u32 s0 = next[0] + (kSums ? in.sum[0].x : 0), s1 = next[1] + (kSums ? in.sum[0].y : 0);
      asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(s0), "r"(s1));
    } else {
      u32 s[4];
      for (int j = 0; j < pairs; ++j) s[j] = next[j] + (kSums ? (j % 2 == 0 ? in.sum[j / 2].x : in.sum[j / 2].y) : 0);
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3]));
    }
  }

  template <bool kSums>
  __device__ __forceinline__ void walk(int x, int y, int direction, int pixels) {
    go_to(x, y, direction);
    Incoming<kQuads> in[batch];
    u64 output = sums;
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (i < pixels) fetch<kSums>(in[i], i);
    next_batch();
    int n = 0;
#pragma unroll 1
    for (; n + 2 * batch <= pixels; n += batch) {
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        visit<kSums>(in[i], ahead(output, sum_step, i));
        fetch<kSums>(in[i], i);
      }
      output = ahead(output, sum_step, batch);
      next_batch();
    }
#pragma unroll 1
    for (; n < pixels; n += batch) {
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        if (n + i < pixels) visit<kSums>(in[i], ahead(output, sum_step, i));
        if (n + batch + i < pixels) fetch<kSums>(in[i], i);
      }
      output = ahead(output, sum_step, batch);
      next_batch();
    }
  }
};

// Up to the middle of the line, the other warp has not visited the pixels: the sums are those of rows, or there are no
// sums.
template <int kQuads, bool kAlongRow>
__device__ __forceinline__ void both_ways(const Problem& p) {
  const int line = blockIdx.x, warp = threadIdx.x >> 5, pixels = kAlongRow ? p.width : p.height, middle = pixels / 2;
  Path<kQuads, kAlongRow> path(p);
  if (path.lane >= path.lanes) return;
  const auto walk = [&](auto sums, int n, int direction, int count) {
    path.template walk<decltype(sums)::value>(kAlongRow ? n : line, kAlongRow ? line : n, direction, count);
  };
  if (warp == 0)
    walk(std::bool_constant<!kAlongRow>(), 0, 1, middle);
  else
    walk(std::bool_constant<!kAlongRow>(), pixels - 1, -1, pixels - middle);
  __syncthreads();
  if (warp == 0)
    walk(std::true_type(), middle, 1, pixels - middle);
  else
    walk(std::true_type(), middle - 1, -1, middle);
}

}  // namespace
}  // namespace stereopsis::scanline

using namespace stereopsis::scanline;
#define PATH_BOUNDS __launch_bounds__(path_items, path_blocks)

extern "C" {

__global__ void __launch_bounds__(mark_items) marks_any(const __grid_constant__ Problem p) { make_marks(p); }
__global__ void PATH_BOUNDS rows_narrow(const __grid_constant__ Problem p) { both_ways<1, true>(p); }
__global__ void PATH_BOUNDS columns_narrow(const __grid_constant__ Problem p) { both_ways<1, false>(p); }
__global__ void PATH_BOUNDS rows_wide(const __grid_constant__ Problem p) { both_ways<2, true>(p); }
__global__ void PATH_BOUNDS columns_wide(const __grid_constant__ Problem p) { both_ways<2, false>(p); }

}  // extern "C"
