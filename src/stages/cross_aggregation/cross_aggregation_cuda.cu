// Aggregation over cross-based regions with arms of up to 33 pixels, as tuned CUDA kernels. Each kernel makes one pass
// over the volume:
//
//   first    costs → sums along the arms of rows
//   middle   sums → means over regions, along a line across → sums of the means along the arms of that same line
//   last     sums along arms → means
//
// so that an iteration reads and writes 2 bytes per cell. A block walks along a line for 64 disparities, 40 pixels per
// step. Running sums are stored in rings in shared memory. The sum over an arm is a difference of two running sums. The
// means of a step need running sums of the next step, and sums of these means need the means of the step after it. The
// stages of the computation therefore lag behind each other.
//
// The running sum of a region has both the number of its pixels, in units of `unit`, and the sum of its costs, modulo
// 2³²: see mean_of().
#include "device/cuda/words.cuh"
#include "stages/cross_aggregation/cross_aggregation_cuda_problem.hpp"

namespace stereopsis::cross_aggregation {
namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
static_assert(is_sound(tuning));
constexpr int warps = tuning.warps, per_warp = tuning.per_warp, chunk = tuning.chunk(), plane = tuning.plane();
constexpr int blocks = tuning.blocks, first_blocks = tuning.first_blocks, table_items = tuning.table_items;
template <bool kReadsSums, bool kMakesSums>
constexpr Local local_of = Local(tuning, kReadsSums, kMakesSums);

// A region has up to 67² pixels, which is more than `wrap_at`, so that the number may wrap once.
constexpr u32 wrap_at = 2246, unit = 1912534, excess = 584068;
constexpr u32 largest_cost = 255;
static_assert((u64)wrap_at * unit - (1ull << 32) == excess);

// Packs the length of the arm before a pixel, plus 1, and the length of the arm after it.
__device__ __forceinline__ u32 pair_of(u32 word, int along_column) {
  return 1 + (along_column ? (word >> 16 & 255) | (word >> 24) << 16 : (word & 255) | (word >> 8 & 255) << 16);
}
// Packs the arms of the right pixel of an entry in the same way, as bytes.
__device__ __forceinline__ u32 right_pair(const Problem& p, int entry, int y, int along_column) {
  if (p.right == nullptr) return 0xFFFF;
  const int x = min(max(entry - (p.padded - 1) - p.min_disparity, 0), p.view_width - 1);
  const u32 word = p.right[y * p.right_pitch + x];
  return 1 + (along_column ? word >> 16 : word & 0xFFFF);
}

__device__ __forceinline__ void make_tables(const Problem& p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (i < p.width)
    for (int along_column = 0; along_column < 2; ++along_column)
      p.left_reach[along_column][(i64)y * p.left_pitch_words + i] =
          pair_of(p.left[y * p.left_pitch + min(i, p.view_width - 1)], along_column);
  if (i >= p.table_pitch) return;
  for (int along_column = 0; along_column < 2; ++along_column)
    for (int parity = 0; parity < 2; ++parity) {
      const int first = 2 * i - parity;
      p.right_reach[along_column][(2 * (i64)y + parity) * p.table_pitch + i] =
          right_pair(p, first, y, along_column) | right_pair(p, first + 1, y, along_column) << 16;
    }
}

__device__ __forceinline__ u32 add2(u32 a, u32 b) { return __viaddmax_u16x2(a, b, 0); }
__device__ __forceinline__ u32 dp2a(u32 halves, u32 bytes, u32 sum) { return __dp2a_lo(halves, bytes, sum); }

// Returns before + 1 | after << 16 for the cell of disparity 2i (kCell = 0) or 2i + 1 (kCell = 1).
template <int kCell>
__device__ __forceinline__ u32 common(u32 right, u32 left) {
  return __vminu2(__byte_perm(right, 0, kCell == 0 ? 0x4342 : 0x4140), left);
}
__device__ __forceinline__ u32 both_common(u32 right, u32 left) {
  return __byte_perm(common<0>(right, left), common<1>(right, left), 0x6420);
}

// Returns the mean of costs from a difference that holds both the sum and the number of the costs. The number is the
// quotient by `unit`. If the costs would then exceed the largest cost, the number is larger by `wrap_at`. An
// approximate reciprocal is sufficient, because half a unit is added: the numbers are below 2²³ and are divided by few
// pixels.
__device__ __forceinline__ u32 mean_of(u32 both) {
  constexpr int shift = 20;
  constexpr u64 scaled = ((1ull << (32 + shift)) + unit - 1) / unit;
  static_assert(scaled < (1ull << 32) &&
                (scaled * unit - (1ull << (32 + shift))) * 0xFFFFFFFFull < (1ull << (32 + shift)));
  const u32 quotient = __umulhi(both, (u32)scaled) >> shift, rest = both - quotient * unit;
  const bool wrapped = rest > largest_cost * quotient;
  constexpr u32 magic = 0x4B000000;  // 2^23
  const u32 pixels = quotient + (wrapped ? magic + wrap_at : magic);
  const u32 dividend = rest + (pixels >> 1) + (wrapped ? magic - (magic >> 1) - excess : magic - (magic >> 1));
  const float divisor = __uint_as_float(pixels) - 8388608.0f, value = __uint_as_float(dividend) - 8388607.5f;
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(divisor));
  return __float_as_uint(__fmaf_rd(value, inverse, 8388608.0f));
}

enum class Input { costs, sums };
enum class Output { costs, sums };

extern __shared__ char memory[];

// Advances a pointer by `n` steps. Pointers are 64-bit numbers, so that one instruction is sufficient.
__device__ __forceinline__ u64 ahead(u64 from, int step, int n) {
  u64 address;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(address) : "r"(step), "r"(n), "l"(from));
  return address;
}
__device__ __forceinline__ u32 load(u64 address) {
  u32 value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address));
  return value;
}
__device__ __forceinline__ u32 load_table(u64 address) {
  u32 value;
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(address));
  return value;
}
__device__ __forceinline__ void store(u64 address, u32 value) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(value));
}

// Hides from the compiler that a number is the same in all lanes. Otherwise, each 64-bit addition would become three
// instructions.
__device__ __forceinline__ int apart(int n) { return __shfl_sync(0xFFFFFFFFu, n, 0); }

__device__ __forceinline__ u32 of_lane(u32 value, int lane) { return __shfl_sync(0xFFFFFFFFu, value, lane); }

// The arms of both views in one direction, for the pixels of a warp in a chunk.
template <bool kAlongRow>
struct Reach {
  u64 left, right, other_right;  // `left` points to the pixel of the lane
  int left_step, right_step;

  __device__ __forceinline__ Reach(const Problem& p, int direction, int line, int first, int column_word) {
    left_step = kAlongRow ? 4 : p.left_pitch_words * 4;
    right_step = kAlongRow ? 4 : apart(p.table_pitch * 8);
    left = (u64)p.left_reach[direction] + (kAlongRow ? 4 * (i64)line * p.left_pitch_words : 4 * line) +
           (i64)(first + (threadIdx.x & 31) % per_warp) * left_step;
    const u64 table = (u64)p.right_reach[direction] + 4 * column_word;
    if (kAlongRow) {
      const auto word = [&](int x) { return table + 4 * ((2 * (i64)line + (x & 1)) * p.table_pitch + ((x + 1) >> 1)); };
      right = word(first);
      other_right = word(first + 1);
    } else {
      right = table + 4 * ((i64)(line & 1) * p.table_pitch + ((line + 1) >> 1)) + (i64)first * right_step;
    }
  }
  __device__ __forceinline__ void fetch(u32 (&to_right)[per_warp], u32& to_left) {
    to_left = load_table(left);
#pragma unroll
    for (int i = 0; i < per_warp; ++i) {
      if (kAlongRow) {
        to_right[i] = load_table(((i & 1) != 0 ? other_right : right) + 4 * (i / 2));
      } else {
        to_right[i] = load_table(ahead(right, right_step, i));
      }
    }
    left = ahead(left, left_step, chunk);
    right = kAlongRow ? right + 2 * chunk : ahead(right, right_step, chunk);
    if (kAlongRow) other_right += 2 * chunk;
  }
};

template <bool kAlongRow, Input kIn, Output kOut>
__device__ __forceinline__ void aggregate(const Problem& p) {
  constexpr bool reads_sums = kIn == Input::sums, makes_sums = kOut == Output::sums;
  constexpr Local local = local_of<reads_sums, makes_sums>;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int groups = p.padded / group;
  const int line = blockIdx.x / groups, first_k = blockIdx.x % groups * group, k = first_k + 2 * lane;
  // If the right pixels for all these disparities lie outside the image, no cell counts.
  const int columns = min(p.width, p.view_width + max(p.min_disparity + first_k + group - 1, 0));
  if (!kAlongRow && line >= columns) return;
  const int pixels = kAlongRow ? columns : p.height, chunks = (pixels + chunk - 1) / chunk;

  const int width_beyond = p.width - p.view_width;
  const bool is_beyond = !kAlongRow && line >= p.view_width;
  // Distance, in bytes, from one pixel of the line to the next.
  const int cell_step = apart((kAlongRow ? 1 : p.width) * p.padded * 2),
            cost_step = apart((kAlongRow   ? 1
                               : is_beyond ? width_beyond
                                           : p.view_width) *
                              p.disparities);
  const i64 first_cell = (kAlongRow ? (i64)line * p.width : (i64)line);
  const int own = warp * per_warp;
  u64 sums = (u64)p.sums + 2 * (first_cell * p.padded + k) + (i64)own * cell_step;
  const auto cost_line = [&](u8* view, int width, int before) {
    return (u64)view + (kAlongRow ? (i64)line * width - before : (i64)line - before) * p.disparities;
  };
  const u64 line_beyond = cost_line(p.costs_beyond, width_beyond, p.view_width);
  const u64 cost_line_begin = is_beyond ? line_beyond : cost_line(p.costs, p.view_width, 0);
  const u64 to_beyond = line_beyond - cost_line_begin;
  u64 costs = cost_line_begin + k + (i64)own * cost_step;
  const int column_word = p.padded / 2 - 1 - (k >> 1);
  Reach<kAlongRow> across(p, kAlongRow ? 1 : 0, line, own, column_word);
  Reach<kAlongRow> along(p, kAlongRow ? 0 : 1, line, own, column_word);

  // Values are stored as loaded, so that no instruction waits for a load right after the load is issued.
  const auto cost_at = [&](int i, int n) {
    return (u8*)(ahead(costs, cost_step, i) + (kAlongRow && n >= p.view_width ? to_beyond : 0));
  };
  const auto load_costs = [&](u32(&to)[per_warp], int first) {
    const int left = k < p.disparities ? pixels - first : 0;
    const auto at = [&](int i) { return cost_at(i, first + i); };
    if (p.in_pairs) {
#pragma unroll
      for (int i = 0; i < per_warp; ++i) to[i] = i < left ? *(const u16*)at(i) : 0;
    } else {
#pragma unroll
      for (int i = 0; i < per_warp; ++i) to[i] = i < left ? at(i)[0] | (k + 1 < p.disparities ? at(i)[1] : 0) << 8 : 0;
    }
  };
  const auto store_costs = [&](int i, int n, u32 pair) {
    if (k >= p.disparities || n >= pixels) return;
    u8* to = cost_at(i, n);
    if (!p.in_pairs) {
      to[0] = (u8)pair;
      if (k + 1 < p.disparities) to[1] = (u8)(pair >> 8);
    } else {
      *(u16*)to = (u16)pair;
    }
  };

  // Positions, for this lane, of the running sums up to a pixel.
  constexpr u32 wrap = plane - 1;
  const u32 lane_byte = lane * 4;
  const auto slot = [&](int pixel) { return ((u32)pixel * 128 + lane_byte) & wrap; };
  const auto word = [](int array, u32 offset) -> u32& { return *(u32*)(memory + array + offset); };

  if (warp == 0) {
    const u32 none = slot(-1);
    if (reads_sums) word(local.regions, none) = word(local.regions + plane, none) = 0;
    if (makes_sums) word(local.lines, none) = 0;
  }

  u32 input[per_warp], across_right[per_warp], across_left, means[per_warp], kept[2][per_warp];
  const auto fetch = [&](int c) {
    if (reads_sums) {
#pragma unroll
      for (int i = 0; i < per_warp; ++i) input[i] = load(ahead(sums, cell_step, i));
      across.fetch(across_right, across_left);
      sums = ahead(sums, cell_step, chunk);
    } else {
      load_costs(input, c * chunk + own);
      costs = ahead(costs, cost_step, chunk);
    }
  };
  fetch(0);
  // The number of steps by which the sums of the means, and the stores of results, lag behind.
  constexpr int to_lines = reads_sums ? 2 : 0, to_output = to_lines + 1;
  u64 output = (u64)p.sums + 2 * (first_cell * p.padded + k) + (i64)own * cell_step;

  const auto step = [&](int c, u32(&arms)[per_warp]) {
    // The arms for the differences of this step.
    u32 along_right[per_warp], along_left;
    if (c >= 1)
      // Superfluous at the end of a line, but a condition would need more registers.
      along.fetch(along_right, along_left);
    u32 even[per_warp], odd[per_warp];
    const bool regions_now = reads_sums && c < chunks;
    if (regions_now) {
      u32 a = 0, b = 0;
#pragma unroll
      for (int i = 0; i < per_warp; ++i) {
        const u32 across_i = of_lane(across_left, i);
        a += dp2a(common<0>(across_right[i], across_i), 0x0101, 0) * unit;
        b += dp2a(common<1>(across_right[i], across_i), 0x0101, 0) * unit;
        even[i] = a = dp2a(input[i], 0x0001, a);
        odd[i] = b = dp2a(input[i], 0x0100, b);
      }
      *(uint2*)(memory + local.region_totals + warp * 256 + lane * 8) = make_uint2(a, b);
    }
    const bool lines_now = makes_sums && c >= to_lines && c - to_lines < chunks;
    if (lines_now) {
      if (!reads_sums)
#pragma unroll
        for (int i = 0; i < per_warp; ++i) means[i] = __byte_perm(input[i], 0, 0x4140);
#pragma unroll
      for (int i = 1; i < per_warp; ++i) means[i] = add2(means[i], means[i - 1]);
      word(local.line_totals, warp * 128 + lane_byte) = means[per_warp - 1];
    }
    __syncthreads();
    if (regions_now) {
      const u32 before = slot(c * chunk - 1);
      u32 a = word(local.regions, before), b = word(local.regions + plane, before);
#pragma unroll
      for (int w = 0; w < warps - 1; ++w)
        if (w < warp) {
          const uint2 t = *(const uint2*)(memory + local.region_totals + w * 256 + lane * 8);
          a += t.x;
          b += t.y;
        }
      const u32 to = slot(c * chunk + own);
#pragma unroll
      for (int i = 0; i < per_warp; ++i) {
        word(local.regions + i * 128, to) = even[i] + a;
        word(local.regions + plane + i * 128, to) = odd[i] + b;
      }
    }
    if (lines_now) {
      const int first = (c - to_lines) * chunk;
      u32 a = word(local.lines, slot(first - 1));
#pragma unroll
      for (int w = 0; w < warps - 1; ++w)
        if (w < warp) a = add2(a, word(local.line_totals, w * 128 + lane_byte));
      const u32 to = slot(first + own);
#pragma unroll
      for (int i = 0; i < per_warp; ++i) word(local.lines + i * 128, to) = add2(means[i], a);
    }
    if (c + 1 < chunks) fetch(c + 1);
    __syncthreads();
    // Positions of the running sums at the end of an arm and before its beginning, for both disparities. The bytes of
    // an arm count pixels, and a pixel has 128 bytes in the ring.
    const auto ends = [&](u32 arms, u32 here, u32(&last)[2], u32(&first)[2]) {
      last[0] = __dp4a(arms, 0x00008000u, here) & wrap;
      last[1] = __dp4a(arms, 0x80000000u, here) & wrap;
      first[0] = (u32)__dp4a((int)arms, 0x00000080, (int)here) & wrap;
      first[1] = (u32)__dp4a((int)arms, 0x00800000, (int)here) & wrap;
    };
    if (makes_sums && c >= to_output && c - to_output < chunks) {
      const int begin = (c - to_output) * chunk + own;
      const u32 here = begin * 128 + lane_byte;
#pragma unroll
      for (int i = 0; i < per_warp; ++i) {
        if (!reads_sums) arms[i] = both_common(along_right[i], of_lane(along_left, i));
        u32 last[2], first[2];
        ends(arms[i], here + i * 128, last, first);
        const auto half = [&](u32 offset, int odd) -> u32 {
          return *(const u16*)(memory + local.lines + offset + 2 * odd);
        };
        const u32 a = half(last[0], 0) - half(first[0], 0), b = half(last[1], 1) - half(first[1], 1);
        const u64 to = ahead(output, cell_step, i);
        if (begin + i < pixels) store(to, __byte_perm(a, b, 0x5410));
      }
      output = ahead(output, cell_step, chunk);
    }
    if (reads_sums && c >= 1 && c - 1 < chunks) {
      const int begin = (c - 1) * chunk + own;
      const u32 here = begin * 128 + lane_byte;
#pragma unroll
      for (int i = 0; i < per_warp; ++i) {
        arms[i] = both_common(along_right[i], of_lane(along_left, i));
        u32 last[2], first[2];
        ends(arms[i], here + i * 128, last, first);
        const u32 a = mean_of(word(local.regions, last[0]) - word(local.regions, first[0]));
        const u32 b = mean_of(word(local.regions + plane, last[1]) - word(local.regions + plane, first[1]));
        if (makes_sums)
          means[i] = __byte_perm(a, b, 0x5410);
        else
          store_costs(i, begin + i, __byte_perm(a, b, 0x0040));
      }
      if (!makes_sums) costs = ahead(costs, cost_step, chunk);
    }
  };
  const int steps = chunks + (makes_sums ? to_output : 1);
#pragma unroll 1
  for (int c = 0; c < steps; c += 2) {
    step(c, kept[0]);
    step(c + 1, kept[1]);
  }
}

}  // namespace
}  // namespace stereopsis::cross_aggregation

using namespace stereopsis::cross_aggregation;
#define LINE_BOUNDS __launch_bounds__(32 * warps, blocks)

extern "C" {

__global__ void __launch_bounds__(table_items) tables_any(const __grid_constant__ Problem p) { make_tables(p); }
__global__ void __launch_bounds__(32 * warps, first_blocks) first_rows(const __grid_constant__ Problem p) {
  aggregate<true, Input::costs, Output::sums>(p);
}
__global__ void LINE_BOUNDS middle_rows(const __grid_constant__ Problem p) {
  aggregate<true, Input::sums, Output::sums>(p);
}
__global__ void LINE_BOUNDS middle_columns(const __grid_constant__ Problem p) {
  aggregate<false, Input::sums, Output::sums>(p);
}
__global__ void LINE_BOUNDS last_rows(const __grid_constant__ Problem p) {
  aggregate<true, Input::sums, Output::costs>(p);
}
__global__ void LINE_BOUNDS last_columns(const __grid_constant__ Problem p) {
  aggregate<false, Input::sums, Output::costs>(p);
}

}  // extern "C"
