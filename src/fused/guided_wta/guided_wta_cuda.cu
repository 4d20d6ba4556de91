// Guided filter of costs, and the selection from its slices: the kernels. A warp walks down its columns, four
// neighbours a lane, with the columns' sums in registers; boxes are differences of prefix sums over the warp's columns.
// All sums are of integers, so that they equal those of any other order.
#include "fused/guided_wta/guided_wta_cuda_problem.hpp"

namespace stereopsis::guided_wta {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr int lane_columns = 4;  // neighbours, whose numbers are one load or store
constexpr int lane_pairs = 2;    // pairs of neighbours, 64 columns apart, whose boxes a lane makes
static_assert(32 * lane_columns == warp_columns && 32 * 2 * lane_pairs == warp_columns);
constexpr unsigned all_lanes = 0xFFFFFFFFu;

__device__ __forceinline__ int clamped(int i, int size) { return min(max(i, 0), size - 1); }

// Kinds of stages/cost.
struct Census32 {
  using Word = u32;
  __device__ __forceinline__ static int cost(const FilterProblem&, Word a, Word b) { return __popc(a ^ b); }
};
struct Census64 {
  using Word = u64;
  __device__ __forceinline__ static int cost(const FilterProblem&, Word a, Word b) { return __popcll(a ^ b); }
};
struct Census128 {
  using Word = ulonglong2;
  __device__ __forceinline__ static int cost(const FilterProblem&, Word a, Word b) {
    return __popcll(a.x ^ b.x) + __popcll(a.y ^ b.y);
  }
};
struct ColourGradient {
  using Word = u64;
  __device__ __forceinline__ static int cost(const FilterProblem& p, Word a, Word b) {
    const u32 colours = __vsadu4((u32)a, (u32)b);
    const int gradient = abs((int)(a >> 32) - (int)(b >> 32));
    return (p.colour_factor * min((int)colours, p.colour_limit) + p.gradient_factor * min(gradient, p.gradient_limit) +
            32768) >>
           16;
  }
};

template <class Kind>
__device__ __forceinline__ typename Kind::Word right_word(const FilterProblem& p, const typename Kind::Word* row,
                                                          int x) {
  return row[clamped(x, p.width)];
}
template <>
__device__ __forceinline__ u64 right_word<ColourGradient>(const FilterProblem& p, const u64* row, int x) {
  return !p.replicates && x != clamped(x, p.width) ? p.outside : row[clamped(x, p.width)];
}

// ---- Costs.

// A thread makes those of four neighbours, for some disparities after one another: each takes a new word of the right
// view.
template <class Kind>
__device__ __forceinline__ void make_costs(const FilterProblem& p) {
  using Word = typename Kind::Word;
  const int chunks = (p.disparities + disparities_of_costs - 1) / disparities_of_costs;
  const int x = (blockIdx.x / chunks * blockDim.x + threadIdx.x) * lane_columns, y = blockIdx.y;
  if (x >= p.width) return;
  const int first = blockIdx.x % chunks * disparities_of_costs, last = min(first + disparities_of_costs, p.disparities);
  const Word* const left = static_cast<const Word*>(p.left) + y * p.left_pitch;
  const Word* const right = static_cast<const Word*>(p.right) + y * p.right_pitch;
  Word own[lane_columns], other[lane_columns];
#pragma unroll
  for (int i = 0; i < lane_columns; ++i) own[i] = left[min(x + i, p.width - 1)];
  const int x_right = x - p.min_disparity - first;
#pragma unroll
  for (int i = 1; i < lane_columns; ++i) other[i - 1] = right_word<Kind>(p, right, x_right + i);
  const u32 inside = x + lane_columns <= p.width ? 0xFFFFFFFFu : 0xFFFFFFFFu >> 8 * (x + lane_columns - p.width);
  u8* out = p.costs + ((i64)first * p.height + y) * p.pitch + x;
#pragma unroll 4
  for (int k = first; k < last; ++k) {
#pragma unroll
    for (int i = lane_columns - 1; i > 0; --i) other[i] = other[i - 1];
    other[0] = right_word<Kind>(p, right, x_right - (k - first));
    u32 costs = 0;
#pragma unroll
    for (int i = 0; i < lane_columns; ++i) costs |= (u32)Kind::cost(p, own[i], other[i]) << 8 * i;
    *reinterpret_cast<u32*>(out) = costs & inside;
    out += (i64)p.height * p.pitch;
  }
}

// ---- Statistics of the guide: once a pixel, so that sums over the window's side are cheap enough.

// Planes of a window's numbers: K, 1/N, the bytes of m, and δ.
template <int kChannels>
struct WindowPlanes {
  static constexpr int k_count = kChannels * (kChannels + 1) / 2;
  static constexpr int share = k_count, m = share + 1, delta = m + 1, count = delta + kChannels;
  static constexpr int guide_sums = kChannels + k_count;
  static_assert(count == statistics_numbers(kChannels) && guide_sums == guide_sums_of(kChannels));
};

// Channels are kept about 128, as bytes of a word, whose highest one is 0.
__device__ __forceinline__ int guide_value(u32 packed, int channel) {
  return (int)(packed << (24 - 8 * channel)) >> 24;
}

// A thread packs four rows of a column, and makes their sums.
template <int kChannels>
__device__ __forceinline__ void prepare_guide(const FilterProblem& p) {
  constexpr int rows = 4, sums_count = WindowPlanes<kChannels>::guide_sums;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * rows, to = min(from + rows, p.height);
  if (x >= p.width) return;
  const auto pixel = [&](int y, int c) { return p.guide[y * p.guide_pitch + x * kChannels + c] - 128; };
  for (int y = from; y < to; ++y) {
    u32 packed = 0;
    for (int c = 0; c < kChannels; ++c) packed |= (pixel(y, c) & 255) << 8 * c;
    p.packed_guide[(i64)y * p.pitch + x] = packed;
  }
  int sums[sums_count] = {};
  const auto change = [&](int y, int sign) {
    int value[kChannels], index = 0;
    for (int c = 0; c < kChannels; ++c) sums[index++] += sign * (value[c] = pixel(y, c));
    for (int c = 0; c < kChannels; ++c)
      for (int d = c; d < kChannels; ++d) sums[index++] += sign * value[c] * value[d];
  };
  const i64 plane = (i64)p.height * p.pitch;
  for (int y = max(from - p.radius, 0); y < min(from + p.radius, p.height); ++y) change(y, 1);
  for (int y = from; y < to; ++y) {
    if (y + p.radius < p.height) change(y + p.radius, 1);
    if (y > from && y - p.radius > 0) change(y - p.radius - 1, -1);
    for (int s = 0; s < sums_count; ++s) p.guide_columns[s * plane + (i64)y * p.pitch + x] = sums[s];
  }
}

// guided.hpp, as in guided_oracle.cpp.
template <int kChannels>
__device__ __forceinline__ void window_statistics(const FilterProblem& p) {
  using Planes = WindowPlanes<kChannels>;
  constexpr int sums_count = Planes::guide_sums;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = p.begin + blockIdx.y;
  if (x >= p.width) return;
  const i64 columns = (i64)p.height * p.pitch, row = (i64)y * p.pitch;
  const int left = max(x - p.radius, 0), right = min(x + p.radius, p.width - 1);
  const int n = (right - left + 1) * (min(y + p.radius, p.height - 1) - max(y - p.radius, 0) + 1);
  int sums[sums_count] = {};
  for (int u = left; u <= right; ++u)
    for (int s = 0; s < sums_count; ++s) sums[s] += p.guide_columns[s * columns + row + u];

  const i64 plane = (i64)(p.end - p.begin) * p.pitch;
  float* const out = p.statistics + (i64)(y - p.begin) * p.pitch + x;
  const float share = 1.0f / (float)n;
  int m[kChannels], e[kChannels];
  float delta[kChannels];
  u32 packed = 0;
  for (int c = 0; c < kChannels; ++c) {
    m[c] = __float2int_rn((float)sums[c] * share);
    e[c] = sums[c] - n * m[c];
    delta[c] = (float)e[c] * share;
    packed |= (m[c] & 255) << 8 * c;
    out[(Planes::delta + c) * plane] = delta[c];
  }
  out[Planes::share * plane] = share;
  out[Planes::m * plane] = __uint_as_float(packed);
  const float flat = (float)n * p.epsilon;
  float covariance[Planes::k_count];
  int index = 0;
  for (int c = 0; c < kChannels; ++c)
    for (int d = c; d < kChannels; ++d) {
      const int centred = sums[kChannels + index] - m[c] * sums[d] - m[d] * sums[c] + n * m[c] * m[d];
      const float value = (float)centred - delta[c] * (float)e[d];
      covariance[index++] = c == d ? value + flat : value;
    }
  float k[Planes::k_count];
  if constexpr (kChannels == 1) {
    k[0] = 1.0f / covariance[0];
  } else {
    const float c11 = covariance[0], c12 = covariance[1], c13 = covariance[2], c22 = covariance[3], c23 = covariance[4],
                c33 = covariance[5];
    const float l21 = c12 / c11, l31 = c13 / c11;
    const float d2 = c22 - l21 * c12;
    const float l32 = (c23 - l31 * c12) / d2;
    const float d3 = (c33 - l31 * c13) - l32 * (l32 * d2);
    const float i1 = 1.0f / c11, i2 = 1.0f / d2, i3 = 1.0f / d3;
    const float u31 = l21 * l32 - l31;
    k[5] = i3;
    k[4] = -(l32 * i3);
    k[2] = u31 * i3;
    k[3] = i2 - l32 * k[4];
    k[1] = u31 * k[4] - l21 * i2;
    k[0] = (i1 + l21 * (l21 * i2)) + u31 * k[2];
  }
  for (int i = 0; i < Planes::k_count; ++i) out[i * plane] = k[i];
}

// ---- Boxes.

template <int kSums>
struct alignas(4 * kSums) Cell {
  u32 values[kSums];
};

// Prefix sums over a warp's columns, in shared memory. Columns lie in four groups by their residue, such that neither
// the lanes that write four neighbours each nor those that read pairs meet in a bank.
template <int kSums>
struct Prefix {
  static constexpr int group = 34, zero = 4 * group;
  static __device__ __forceinline__ int index(int place) { return (place & 3) * group + (place >> 2); }

  __device__ __forceinline__ void set(const u32 (&columns)[lane_columns][kSums], int lane) {
    u32 sum[lane_columns][kSums], total[kSums];
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
      sum[0][s] = columns[0][s];
#pragma unroll
      for (int i = 1; i < lane_columns; ++i) sum[i][s] = sum[i - 1][s] + columns[i][s];
      total[s] = sum[lane_columns - 1][s];
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2)
#pragma unroll
      for (int s = 0; s < kSums; ++s) {
        const u32 other = __shfl_up_sync(all_lanes, total[s], step);
        if (lane >= step) total[s] += other;
      }
#pragma unroll
    for (int i = 0; i < lane_columns; ++i) {
      Cell<kSums> cell;
#pragma unroll
      for (int s = 0; s < kSums; ++s) cell.values[s] = sum[i][s] + (total[s] - sum[lane_columns - 1][s]);
      cells[i * group + lane] = cell;
    }
  }

  Cell<kSums> cells[zero + 1];
};

// A warp's columns: which a lane sums, and of which it makes the boxes.
struct Columns {
  __device__ __forceinline__ Columns(const FilterProblem& p, int segment)
      : lane(threadIdx.x & 31), first(segment * p.segment_step), own(first + lane_columns * lane) {
    begin = segment == 0 ? 0 : first + p.segment_border;
    end = segment + 1 == p.segments ? p.pitch : first + p.segment_border + p.segment_step;
  }
  __device__ __forceinline__ int pair(int i) const { return first + 2 * lane + 64 * i; }
  __device__ __forceinline__ bool has_pair(int i) const { return pair(i) >= begin && pair(i) < end; }

  int lane, first, own, begin, end;
};

// Where the prefix sums lie whose differences are the boxes of a lane's pairs.
template <int kSums>
struct Boxes {
  __device__ __forceinline__ Boxes(const Columns& columns, int radius) {
#pragma unroll
    for (int i = 0; i < 2 * lane_pairs; ++i) {
      const int place = columns.pair(i / 2) + i % 2 - columns.first;
      right[i] = Prefix<kSums>::index(min(place + radius, warp_columns - 1));
      left[i] = place > radius ? Prefix<kSums>::index(place - radius - 1) : Prefix<kSums>::zero;
    }
  }
  __device__ __forceinline__ void of(const Prefix<kSums>& prefix, int i, int (&box)[kSums]) const {
    const Cell<kSums> to = prefix.cells[right[i]], before = prefix.cells[left[i]];
#pragma unroll
    for (int s = 0; s < kSums; ++s) box[s] = (int)(to.values[s] - before.values[s]);
  }

  int right[2 * lane_pairs], left[2 * lane_pairs];
};

// Σ a_i b_i of bytes.
__device__ __forceinline__ u32 dot(u32 bytes, u32 signed_bytes, u32 sum) {
  u32 result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(signed_bytes), "r"(sum));
  return result;
}

// Σ p and Σ I' p of a column, whose window loses a row and gains one: −x = ¬x + 1 in bytes.
template <int kChannels>
__device__ __forceinline__ void change(u32 (&sums)[kChannels + 1], u32 gained, u32 lost, int i, u32 guide_gained,
                                       u32 guide_lost) {
  constexpr u32 once_each = 0x0000FF01, not_and_one = 0x01FFFFFF;
  const u32 costs = __byte_perm(gained, lost, 0x4440 + 0x1111 * i);
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    sums[c] = dot(costs, __byte_perm(guide_gained, guide_lost ^ not_and_one, 0x3740 + 0x11 * c), sums[c]);
  sums[kChannels] = dot(costs, once_each, sums[kChannels]);
}

// From a window's sums and its numbers.
template <int kChannels, class Number>
__device__ __forceinline__ void make_coefficients(const FilterProblem& p, const int (&box)[kChannels + 1],
                                                  Number&& number, int (&out)[kChannels + 1]) {
  using Planes = WindowPlanes<kChannels>;
  const int total = box[kChannels];
  const float sum = (float)total;
  float v[kChannels], a[kChannels], mu[kChannels], offset;
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    const int m = guide_value(__float_as_uint(number(Planes::m)), c);
    const float delta = number(Planes::delta + c);
    v[c] = (float)(box[c] - m * total) - delta * sum;
    mu[c] = (float)m + delta;
  }
  if constexpr (kChannels == 1) {
    a[0] = number(0) * v[0];
    offset = a[0] * mu[0];
  } else {
    a[0] = (number(0) * v[0] + number(1) * v[1]) + number(2) * v[2];
    a[1] = (number(1) * v[0] + number(3) * v[1]) + number(4) * v[2];
    a[2] = (number(2) * v[0] + number(4) * v[1]) + number(5) * v[2];
    offset = (a[0] * mu[0] + a[1] * mu[1]) + a[2] * mu[2];
  }
#pragma unroll
  for (int c = 0; c < kChannels; ++c) out[c] = __float2int_rn(a[c] * p.factor_a);
  out[kChannels] = __float2int_rn((sum * number(Planes::share) - offset) * p.factor_b);
}

// What the window of a row gains and loses against the one before.
struct Step {
  u32 costs_gained = 0, costs_lost = 0;
  uint4 guide_gained = {}, guide_lost = {};
};

// Coefficients are written as prefix sums down a piece of rows, modulo 2^32. Blocks go over segments, disparities and
// pieces: neighbouring segments share lines of the cache.
template <int kChannels>
__device__ __forceinline__ void sum_coefficients(const FilterProblem& p) {
  using Planes = WindowPlanes<kChannels>;
  constexpr int sums = kChannels + 1;
  __shared__ Prefix<sums> shared[warps_in_block];
  auto& prefix = shared[threadIdx.x / 32];
  const int blocks = (p.disparities + warps_in_block - 1) / warps_in_block, place = blockIdx.x / p.segments;
  const int disparity = place % blocks * warps_in_block + threadIdx.x / 32;
  const int first = p.begin + place / blocks * p.rows_in_piece, last = min(first + p.rows_in_piece, p.end);
  if (disparity >= p.disparities) return;
  const Columns columns(p, blockIdx.x % p.segments);
  const Boxes<sums> boxes(columns, p.radius);
  if (columns.lane == 0) prefix.cells[Prefix<sums>::zero] = {};

  const u8* const costs = p.costs + (i64)disparity * p.height * p.pitch + columns.own;
  const u32* const guide = p.packed_guide + columns.own;
  const auto load = [&](int gained, bool loses) {
    Step step;
    if (columns.own >= p.width) return step;
    if (gained < p.height) {
      step.costs_gained = *reinterpret_cast<const u32*>(costs + (i64)gained * p.pitch);
      step.guide_gained = *reinterpret_cast<const uint4*>(guide + (i64)gained * p.pitch);
    }
    if (const int lost = gained - 2 * p.radius - 1; loses && lost >= 0) {
      step.costs_lost = *reinterpret_cast<const u32*>(costs + (i64)lost * p.pitch);
      step.guide_lost = *reinterpret_cast<const uint4*>(guide + (i64)lost * p.pitch);
    }
    return step;
  };
  u32 column[lane_columns][sums] = {};
  const auto take = [&](const Step& step) {
    change<kChannels>(column[0], step.costs_gained, step.costs_lost, 0, step.guide_gained.x, step.guide_lost.x);
    change<kChannels>(column[1], step.costs_gained, step.costs_lost, 1, step.guide_gained.y, step.guide_lost.y);
    change<kChannels>(column[2], step.costs_gained, step.costs_lost, 2, step.guide_gained.z, step.guide_lost.z);
    change<kChannels>(column[3], step.costs_gained, step.costs_lost, 3, step.guide_gained.w, step.guide_lost.w);
  };
#pragma unroll 4
  for (int y = max(first - p.radius, 0); y < min(first + p.radius, p.height); ++y) take(load(y, false));

  const i64 plane = (i64)(p.end - p.begin) * p.pitch;
  u32 above[2 * lane_pairs][sums] = {};
  Step next = load(first + p.radius, false);
  for (int y = first; y < last; ++y) {
    // Loads are under way while sums are made.
    take(next);
    next = load(y + 1 + p.radius, true);
    const i64 row = (i64)(y - p.begin) * p.pitch;
    float2 numbers[lane_pairs][Planes::count];
#pragma unroll
    for (int i = 0; i < lane_pairs; ++i)
      if (columns.has_pair(i))
#pragma unroll
        for (int n = 0; n < Planes::count; ++n)
          numbers[i][n] = *reinterpret_cast<const float2*>(p.statistics + n * plane + row + columns.pair(i));
    __syncwarp();
    prefix.set(column, columns.lane);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < lane_pairs; ++i) {
      if (!columns.has_pair(i)) continue;
      const int x = columns.pair(i);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        int box[sums], coefficients[sums];
        boxes.of(prefix, 2 * i + h, box);
        make_coefficients<kChannels>(
            p, box, [&](int n) { return h == 0 ? numbers[i][n].x : numbers[i][n].y; }, coefficients);
#pragma unroll
        for (int s = 0; s < sums; ++s) above[2 * i + h][s] += x + h < p.width ? coefficients[s] : 0;
      }
#pragma unroll
      for (int s = 0; s < sums; ++s)
        *reinterpret_cast<uint2*>(p.coefficients + ((i64)disparity * sums + s) * plane + row + x) = {
            above[2 * i][s], above[2 * i + 1][s]};
    }
  }
}

// The byte of a guide about 128, as a float.
__device__ __forceinline__ float guide_float(u32 packed, int channel) {
  constexpr u32 two_to_23 = 0x4B000000;
  return __uint_as_float(__byte_perm(packed ^ 0x00808080, two_to_23, 0x7650 + channel)) - (8388608.0f + 128.0f);
}

// A warp has a few rows, each on its own. Blocks go over segments, rows and disparities: what the window of a row loses
// is still in the cache from when it was gained.
template <int kChannels>
__device__ __forceinline__ void filter(const FilterProblem& p) {
  constexpr int sums = kChannels + 1;
  __shared__ Prefix<sums> shared[warps_in_block];
  auto& prefix = shared[threadIdx.x / 32];
  const int rows = p.last - p.first, blocks = (rows + rows_in_filter_block - 1) / rows_in_filter_block;
  const int place = blockIdx.x / p.segments, disparity = place / blocks;
  const int first = p.first + place % blocks * rows_in_filter_block + threadIdx.x / 32;
  const Columns columns(p, blockIdx.x % p.segments);
  const Boxes<sums> boxes(columns, p.radius);
  if (columns.lane == 0) prefix.cells[Prefix<sums>::zero] = {};

  const i64 plane = (i64)(p.end - p.begin) * p.pitch;
  const u32* const coefficients = p.coefficients + (i64)disparity * sums * plane + columns.own;
  float* const filtered = p.filtered + (i64)disparity * rows * p.pitch;
  const float* const shares = p.statistics + WindowPlanes<kChannels>::share * plane;
  for (int y = first; y < min(first + rows_in_filter_block, p.last); y += warps_in_block) {
    // The sums down a window: at its bottom, less those above it, and those of the pieces that end in it.
    u32 column[lane_columns][sums] = {};
    const auto add = [&](int row, u32 sign) {
#pragma unroll
      for (int s = 0; s < sums; ++s) {
        const uint4 cells = *reinterpret_cast<const uint4*>(coefficients + s * plane + (i64)row * p.pitch);
        column[0][s] += sign * cells.x;
        column[1][s] += sign * cells.y;
        column[2][s] += sign * cells.z;
        column[3][s] += sign * cells.w;
      }
    };
    if (columns.own < p.width) {
      const int bottom = min(y + p.radius, p.height - 1) - p.begin, above = y - p.radius - 1 - p.begin;
      add(bottom, 1);
      if (above >= 0) add(above, -1u);
      for (int end = (max(above, 0) / p.rows_in_piece + 1) * p.rows_in_piece; end <= bottom; end += p.rows_in_piece)
        add(end - 1, 1);
    }
    __syncwarp();
    prefix.set(column, columns.lane);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < lane_pairs; ++i) {
      if (!columns.has_pair(i)) continue;
      const int x = columns.pair(i);
      const uint2 guides = *reinterpret_cast<const uint2*>(p.packed_guide + (i64)y * p.pitch + x);
      const float2 share = *reinterpret_cast<const float2*>(shares + (i64)(y - p.begin) * p.pitch + x);
      const auto filtered_cost = [&](int h, u32 guide, float one_share) {
        int box[sums];
        boxes.of(prefix, 2 * i + h, box);
        float product = (float)box[0] * guide_float(guide, 0);
#pragma unroll
        for (int c = 1; c < kChannels; ++c) product += (float)box[c] * guide_float(guide, c);
        return (product * p.unit_a + (float)box[kChannels] * p.unit_b) * one_share;
      };
      *reinterpret_cast<float2*>(filtered + (i64)(y - p.first) * p.pitch + x) = {filtered_cost(0, guides.x, share.x),
                                                                                 filtered_cost(1, guides.y, share.y)};
    }
  }
}

// ---- Selection: wta.hpp, from planes of disparities, of several levels: cross_scale.hpp.

template <bool kLevels>
__device__ __forceinline__ float cost_at(const SelectProblem& p, int x, int row, int k) {
  float cost = p.levels[0].costs[((i64)k * p.rows + row) * p.levels[0].pitch + x];
  if constexpr (kLevels) {
    cost = p.levels[0].weight * cost;
    for (int s = 1; s < p.count; ++s) {
      const LevelPlanes& level = p.levels[s];
      const int d = p.min_disparity + k;
      const int index = (p.from_right ? d >> s : -(-d >> s)) - level.min_disparity;
      const int coarse_row = ((p.first_row + row) >> s) - level.first_row;
      cost = cost + level.weight * level.costs[((i64)index * level.rows + coarse_row) * level.pitch + (x >> s)];
    }
  }
  return cost;
}

__device__ __forceinline__ float subpixel_offset(int kind, float a, float b, float c) {
  constexpr int parabola = 1, equiangular = 2;
  if (kind != parabola && kind != equiangular) return 0;
  const float denominator = kind == parabola ? (a - 2 * b) + c : fmaxf(a, c) - b;
  return denominator == 0 ? 0.0f : (a - c) / (2 * denominator);
}

template <bool kLevels>
__device__ __forceinline__ void select(const SelectProblem& p) {
  constexpr int no_candidate = 1, ambiguous = 4, masked = 16;
  constexpr float no_cost = __builtin_huge_valf();
  const int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (x >= p.width) return;
  const int first = p.border_candidates ? 0 : max(0, x - p.width + 1 - p.min_disparity);
  const int last = p.border_candidates ? p.disparities - 1 : min(p.disparities - 1, x - p.min_disparity);
  const auto is_candidate = [&](int k) {
    return k >= first && k <= last &&
           (p.mask_right == nullptr ||
            p.mask_right[row * p.mask_right_pitch + clamped(x - p.min_disparity - k, p.width)] != 0);
  };
  int reason = p.mask_left != nullptr && p.mask_left[row * p.mask_left_pitch + x] == 0 ? masked : 0, best = -1;
  float lowest = no_cost;
  if (reason == 0) {
#pragma unroll 8
    for (int k = first; k <= last; ++k) {
      const float cost = cost_at<kLevels>(p, x, row, k);
      if ((cost < lowest || (p.from_right && cost == lowest)) && is_candidate(k)) {
        lowest = cost;
        best = k;
      }
    }
    if (best < 0) reason = no_candidate;
  }
  float second = no_cost;
  if (reason == 0 && (p.uniqueness > 0 || p.confidence != nullptr)) {
    for (int k = first; k <= last; ++k) {
      const float cost = cost_at<kLevels>(p, x, row, k);
      if (cost < second && (k < best - 1 || k > best + 1) && is_candidate(k)) second = cost;
    }
    if (p.uniqueness > 0 && second != no_cost && second * (float)(100 - p.uniqueness) < lowest * 100.0f)
      reason = ambiguous;
  }
  float result = __uint_as_float(0x7FC00000u), trust = 0;
  if (reason == 0) {
    result = (float)(p.min_disparity + best);
    if (p.subpixel != 0 && is_candidate(best - 1) && is_candidate(best + 1))
      result += subpixel_offset(p.subpixel, cost_at<kLevels>(p, x, row, best - 1), lowest,
                                cost_at<kLevels>(p, x, row, best + 1));
    if (p.from_right) result = 0.0f - result;
    trust = second == no_cost ? 1.0f : second <= 0 ? 0.0f : 1.0f - fmaxf(lowest, 0.0f) / second;
  }
  p.disparity[row * p.disparity_pitch + x] = result;
  p.validity[row * p.validity_pitch + x] = (u8)reason;
  if (p.confidence != nullptr) p.confidence[row * p.confidence_pitch + x] = trust;
}

}  // namespace
}  // namespace stereopsis::guided_wta

using namespace stereopsis::guided_wta;

extern "C" {

#define STEREOPSIS_CHANNELS(name, channels)                                                                       \
  __global__ void guide_##name(const __grid_constant__ FilterProblem p) { prepare_guide<channels>(p); }           \
  __global__ void statistics_##name(const __grid_constant__ FilterProblem p) { window_statistics<channels>(p); }  \
  __global__ void __launch_bounds__(32 * warps_in_block, channels == 3 ? blocks_with_colour : blocks_with_grey)   \
      coefficients_##name(const __grid_constant__ FilterProblem p) {                                              \
    sum_coefficients<channels>(p);                                                                                \
  }                                                                                                               \
  __global__ void __launch_bounds__(32 * warps_in_block) filter_##name(const __grid_constant__ FilterProblem p) { \
    filter<channels>(p);                                                                                          \
  }
STEREOPSIS_CHANNELS(grey, 1)
STEREOPSIS_CHANNELS(colour, 3)

#define STEREOPSIS_KIND(name, Kind) \
  __global__ void costs_##name(const __grid_constant__ FilterProblem p) { make_costs<Kind>(p); }
STEREOPSIS_KIND(census32, Census32)
STEREOPSIS_KIND(census64, Census64)
STEREOPSIS_KIND(census128, Census128)
STEREOPSIS_KIND(colour_gradient, ColourGradient)

__global__ void select_one(const __grid_constant__ SelectProblem p) { select<false>(p); }
__global__ void select_levels(const __grid_constant__ SelectProblem p) { select<true>(p); }

}  // extern "C"
