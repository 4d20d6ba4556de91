// Guided filter of costs that are made on the fly, and the selection from its slices: the kernels. A warp walks down four
// columns a lane, for two disparities, with the columns' sums in registers; boxes are differences of prefix sums over the
// warp's columns. All sums are of integers, so that they equal those of any other order.
#include "fused/guided_wta/guided_wta_cuda_problem.hpp"

namespace stereopsis::guided_wta {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr int lane_columns = warp_columns / 32;
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
  __device__ __forceinline__ static int cost(const FilterProblem&, Word a, Word b) { return __popcll(a.x ^ b.x) + __popcll(a.y ^ b.y); }
};
struct ColourGradient {
  using Word = u64;
  __device__ __forceinline__ static int cost(const FilterProblem& p, Word a, Word b) {
    const u32 colours = __vsadu4((u32)a, (u32)b);
    const int gradient = abs((int)(a >> 32) - (int)(b >> 32));
    return (p.colour_factor * min((int)colours, p.colour_limit) + p.gradient_factor * min(gradient, p.gradient_limit) + 32768) >> 16;
  }
};

template <class Kind>
__device__ __forceinline__ typename Kind::Word right_word(const FilterProblem& p, const typename Kind::Word* row, int x) {
  return row[clamped(x, p.width)];
}
template <>
__device__ __forceinline__ u64 right_word<ColourGradient>(const FilterProblem& p, const u64* row, int x) {
  return !p.replicates && x != clamped(x, p.width) ? p.outside : row[clamped(x, p.width)];
}

// ---- Statistics of the guide: once a pixel, so that sums over the window's side are cheap enough.

template <int kChannels>
constexpr int guide_sums = kChannels + kChannels * (kChannels + 1) / 2;

// A thread makes the sums of four rows of a column.
template <int kChannels>
__device__ __forceinline__ void sum_guide_columns(const FilterProblem& p) {
  constexpr int rows = 4;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, from = p.begin + blockIdx.y * rows;
  if (x >= p.width) return;
  int sums[guide_sums<kChannels>] = {};
  const auto change = [&](int y, int sign) {
    const u8* pixel = p.guide + y * p.guide_pitch + x * kChannels;
    int value[kChannels], index = 0;
    for (int c = 0; c < kChannels; ++c) sums[index++] += sign * (value[c] = pixel[c] - 128);
    for (int c = 0; c < kChannels; ++c)
      for (int d = c; d < kChannels; ++d) sums[index++] += sign * value[c] * value[d];
  };
  for (int y = max(from - p.radius, 0); y < min(from + p.radius, p.height); ++y) change(y, 1);
  const i64 plane = (i64)(p.end - p.begin) * p.width;
  for (int y = from; y < min(from + rows, p.end); ++y) {
    if (y + p.radius < p.height) change(y + p.radius, 1);
    if (y > from && y - p.radius > 0) change(y - p.radius - 1, -1);
    for (int s = 0; s < guide_sums<kChannels>; ++s) p.guide_columns[s * plane + (i64)(y - p.begin) * p.width + x] = sums[s];
  }
}

// The guide as bytes of a word, for all rows that are read.
template <int kChannels>
__device__ __forceinline__ void pack_guide(const FilterProblem& p) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= p.width) return;
  const u8* pixel = p.guide + y * p.guide_pitch + x * kChannels;
  p.packed_guide[(i64)y * p.width + x] = kChannels == 3 ? pixel[0] | pixel[1] << 8 | pixel[2] << 16 : pixel[0];
}

__device__ __forceinline__ int guide_value(u32 packed, int channel) { return (int)(packed >> 8 * channel & 255) - 128; }

// A window: three quadruples with a guide in colour, {k11, k12, k13, k22}, {k23, k33, share, m}, {δ}; two with a grey one,
// {k, share, m, δ}, of which the first is all. m is in bytes.
template <int kChannels>
struct Window {
  int m[kChannels];
  float delta[kChannels], mu[kChannels], share;
  float k[kChannels * (kChannels + 1) / 2];
};

template <int kChannels>
__device__ __forceinline__ void store(const FilterProblem& p, i64 pixel, const Window<kChannels>& w) {
  float4* out = reinterpret_cast<float4*>(p.statistics);
  if constexpr (kChannels == 1) {
    out[pixel] = {w.k[0], w.share, __int_as_float(w.m[0]), w.delta[0]};
  } else {
    const i64 plane = (i64)(p.end - p.begin) * p.width;
    const u32 packed = (w.m[0] & 255) | (w.m[1] & 255) << 8 | (w.m[2] & 255) << 16;
    out[pixel] = {w.k[0], w.k[1], w.k[2], w.k[3]};
    out[plane + pixel] = {w.k[4], w.k[5], w.share, __uint_as_float(packed)};
    out[2 * plane + pixel] = {w.delta[0], w.delta[1], w.delta[2], 0};
  }
}

template <int kChannels>
__device__ __forceinline__ Window<kChannels> load_window(const FilterProblem& p, i64 pixel) {
  const float4* in = reinterpret_cast<const float4*>(p.statistics);
  Window<kChannels> w;
  if constexpr (kChannels == 1) {
    const float4 all = in[pixel];
    w.k[0] = all.x;
    w.share = all.y;
    w.m[0] = __float_as_int(all.z);
    w.delta[0] = all.w;
  } else {
    const i64 plane = (i64)(p.end - p.begin) * p.width;
    const float4 first = in[pixel], second = in[plane + pixel], third = in[2 * plane + pixel];
    w.k[0] = first.x, w.k[1] = first.y, w.k[2] = first.z, w.k[3] = first.w;
    w.k[4] = second.x, w.k[5] = second.y, w.share = second.z;
    const u32 packed = __float_as_uint(second.w);
    for (int c = 0; c < 3; ++c) w.m[c] = (int)(packed << (24 - 8 * c)) >> 24;
    w.delta[0] = third.x, w.delta[1] = third.y, w.delta[2] = third.z;
  }
  for (int c = 0; c < kChannels; ++c) w.mu[c] = (float)w.m[c] + w.delta[c];
  return w;
}

// guided.hpp, as in guided_oracle.cpp.
template <int kChannels>
__device__ __forceinline__ void window_statistics(const FilterProblem& p) {
  constexpr int sums_count = guide_sums<kChannels>;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = p.begin + blockIdx.y;
  if (x >= p.width) return;
  const i64 plane = (i64)(p.end - p.begin) * p.width, row = (i64)(y - p.begin) * p.width;
  const int left = max(x - p.radius, 0), right = min(x + p.radius, p.width - 1);
  const int n = (right - left + 1) * (min(y + p.radius, p.height - 1) - max(y - p.radius, 0) + 1);
  int sums[sums_count] = {};
  for (int u = left; u <= right; ++u)
    for (int s = 0; s < sums_count; ++s) sums[s] += p.guide_columns[s * plane + row + u];

  Window<kChannels> w;
  w.share = 1.0f / (float)n;
  int e[kChannels];
  for (int c = 0; c < kChannels; ++c) {
    w.m[c] = __float2int_rn((float)sums[c] * w.share);
    e[c] = sums[c] - n * w.m[c];
    w.delta[c] = (float)e[c] * w.share;
  }
  const float flat = (float)n * p.epsilon;
  float covariance[kChannels * (kChannels + 1) / 2];
  int index = 0;
  for (int c = 0; c < kChannels; ++c)
    for (int d = c; d < kChannels; ++d) {
      const int centred = sums[kChannels + index] - w.m[c] * sums[d] - w.m[d] * sums[c] + n * w.m[c] * w.m[d];
      const float value = (float)centred - w.delta[c] * (float)e[d];
      covariance[index++] = c == d ? value + flat : value;
    }
  if constexpr (kChannels == 1) {
    w.k[0] = 1.0f / covariance[0];
  } else {
    const float c11 = covariance[0], c12 = covariance[1], c13 = covariance[2], c22 = covariance[3], c23 = covariance[4], c33 = covariance[5];
    const float l21 = c12 / c11, l31 = c13 / c11;
    const float d2 = c22 - l21 * c12;
    const float l32 = (c23 - l31 * c12) / d2;
    const float d3 = (c33 - l31 * c13) - l32 * (l32 * d2);
    const float i1 = 1.0f / c11, i2 = 1.0f / d2, i3 = 1.0f / d3;
    const float u31 = l21 * l32 - l31;
    w.k[5] = i3;
    w.k[4] = -(l32 * i3);
    w.k[2] = u31 * i3;
    w.k[3] = i2 - l32 * w.k[4];
    w.k[1] = u31 * w.k[4] - l21 * i2;
    w.k[0] = (i1 + l21 * (l21 * i2)) + u31 * w.k[2];
  }
  store(p, row + x, w);
}

// ---- Boxes.

// The columns of a warp, of which the outermost `radius` on either side only lend their sums.
struct Columns {
  __device__ __forceinline__ Columns(const FilterProblem& p, int segment)
      : first(segment * (warp_columns - 2 * p.radius) - p.radius), lane(threadIdx.x & 31) {}
  __device__ __forceinline__ int x(int i) const { return first + lane + 32 * i; }
  // Whether the column's box is within the warp's columns, and in the image.
  __device__ __forceinline__ bool has_box(const FilterProblem& p, int i) const {
    const int place = lane + 32 * i;
    return place >= p.radius && place < warp_columns - p.radius && x(i) < p.width;
  }

  int first, lane;
};

// Sums over the columns up to each, into the warp's part of shared memory.
template <int kSums>
__device__ __forceinline__ void prefix_sums(const int (&columns)[lane_columns][kSums], int lane, int (*prefix)[kSums]) {
  int before[kSums] = {};
#pragma unroll
  for (int i = 0; i < lane_columns; ++i) {
    int sum[kSums];
#pragma unroll
    for (int s = 0; s < kSums; ++s) sum[s] = columns[i][s];
#pragma unroll
    for (int step = 1; step < 32; step *= 2)
#pragma unroll
      for (int s = 0; s < kSums; ++s) {
        const int other = __shfl_up_sync(all_lanes, sum[s], step);
        if (lane >= step) sum[s] += other;
      }
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
      sum[s] += before[s];
      before[s] = __shfl_sync(all_lanes, sum[s], 31);
      prefix[lane + 32 * i][s] = sum[s];
    }
  }
}

template <int kSums>
struct alignas(4 * kSums) Cell {
  int values[kSums];
};

template <int kSums>
__device__ __forceinline__ Cell<kSums> box_of(const int (*prefix)[kSums], int place, int radius) {
  Cell<kSums> box = *reinterpret_cast<const Cell<kSums>*>(prefix[place + radius]);
  if (place > radius) {
    const Cell<kSums> left = *reinterpret_cast<const Cell<kSums>*>(prefix[place - radius - 1]);
#pragma unroll
    for (int s = 0; s < kSums; ++s) box.values[s] -= left.values[s];
  }
  return box;
}

// blockIdx.x: the segment of columns; y: the disparities of a block and, beyond these, the piece of rows.
struct Place {
  __device__ __forceinline__ Place(const FilterProblem& p, int begin, int end)
      : Place(p, begin, end, (p.disparities + disparities_of_block - 1) / disparities_of_block) {}
  __device__ __forceinline__ Place(const FilterProblem& p, int begin, int end, int blocks)
      : disparity(blockIdx.y % blocks * disparities_of_block + threadIdx.x / 32 * disparities_of_warp),
        first(begin + blockIdx.y / blocks * p.rows_in_piece),
        last(min(first + p.rows_in_piece, end)) {}
  int disparity, first, last;
};

template <class Kind, int kChannels>
__device__ __forceinline__ void make_coefficients(const FilterProblem& p) {
  constexpr int sums = kChannels + 1;
  using Word = typename Kind::Word;
  __shared__ __align__(16) int shared[warps_in_block][warp_columns][sums];
  int(*const prefix)[sums] = shared[threadIdx.x / 32];
  const Place place(p, p.begin, p.end);
  if (place.disparity >= p.disparities) return;
  const Columns columns(p, blockIdx.x);
  const Word* const left = static_cast<const Word*>(p.left);
  const Word* const right = static_cast<const Word*>(p.right);

  int column[disparities_of_warp][lane_columns][sums] = {};
  const auto change = [&](int y, int sign) {
#pragma unroll
    for (int i = 0; i < lane_columns; ++i) {
      const int x = columns.x(i);
      if (x < 0 || x >= p.width) continue;
      const Word word = left[y * p.left_pitch + x];
      const u32 guide = p.packed_guide[(i64)y * p.width + x];
#pragma unroll
      for (int j = 0; j < disparities_of_warp; ++j) {
        const int cost = sign * Kind::cost(p, word, right_word<Kind>(p, right + y * p.right_pitch, x - p.min_disparity - place.disparity - j));
        column[j][i][kChannels] += cost;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) column[j][i][c] += cost * guide_value(guide, c);
      }
    }
  };
  for (int y = max(place.first - p.radius, 0); y < min(place.first + p.radius, p.height); ++y) change(y, 1);
  const i64 plane = (i64)(p.end - p.begin) * p.width;
  for (int y = place.first; y < place.last; ++y) {
    if (y + p.radius < p.height) change(y + p.radius, 1);
    if (y > place.first && y - p.radius > 0) change(y - p.radius - 1, -1);
#pragma unroll
    for (int j = 0; j < disparities_of_warp; ++j) {
      if (place.disparity + j >= p.disparities) break;
      __syncwarp();
      prefix_sums<sums>(column[j], columns.lane, prefix);
      __syncwarp();
#pragma unroll
      for (int i = 0; i < lane_columns; ++i) {
        if (!columns.has_box(p, i)) continue;
        const Cell<sums> box = box_of<sums>(prefix, columns.lane + 32 * i, p.radius);
        const i64 pixel = (i64)(y - p.begin) * p.width + columns.x(i);
        const Window<kChannels> w = load_window<kChannels>(p, pixel);
        const int total = box.values[kChannels];
        const float sum = (float)total;
        float v[kChannels], a[kChannels], offset;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) v[c] = (float)(box.values[c] - w.m[c] * total) - w.delta[c] * sum;
        if constexpr (kChannels == 1) {
          a[0] = w.k[0] * v[0];
          offset = a[0] * w.mu[0];
        } else {
          a[0] = (w.k[0] * v[0] + w.k[1] * v[1]) + w.k[2] * v[2];
          a[1] = (w.k[1] * v[0] + w.k[3] * v[1]) + w.k[4] * v[2];
          a[2] = (w.k[2] * v[0] + w.k[4] * v[1]) + w.k[5] * v[2];
          offset = (a[0] * w.mu[0] + a[1] * w.mu[1]) + a[2] * w.mu[2];
        }
        Cell<sums> out;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) out.values[c] = __float2int_rn(a[c] * p.factor_a);
        out.values[kChannels] = __float2int_rn((sum * w.share - offset) * p.factor_b);
        reinterpret_cast<Cell<sums>*>(p.coefficients)[(place.disparity + j) * plane + pixel] = out;
      }
    }
  }
}

// The filtered costs. The share of a window is the statistics' again.
template <int kChannels>
__device__ __forceinline__ float share_of(const FilterProblem& p, i64 pixel) {
  const float4* in = reinterpret_cast<const float4*>(p.statistics);
  if constexpr (kChannels == 1) return in[pixel].y;
  return in[(i64)(p.end - p.begin) * p.width + pixel].z;
}

template <int kChannels>
__device__ __forceinline__ void filter(const FilterProblem& p) {
  constexpr int sums = kChannels + 1;
  __shared__ __align__(16) int shared[warps_in_block][warp_columns][sums];
  int(*const prefix)[sums] = shared[threadIdx.x / 32];
  const Place place(p, p.first, p.last);
  const Columns columns(p, blockIdx.x);
  const i64 plane = (i64)(p.end - p.begin) * p.width, out_plane = (i64)(p.last - p.first) * p.width;
  for (int k = place.disparity; k < min(place.disparity + disparities_of_warp, p.disparities); ++k) {
    const Cell<sums>* const cells = reinterpret_cast<const Cell<sums>*>(p.coefficients) + k * plane;
    int column[lane_columns][sums] = {};
    const auto change = [&](int y, int sign) {
#pragma unroll
      for (int i = 0; i < lane_columns; ++i) {
        const int x = columns.x(i);
        if (x < 0 || x >= p.width) continue;
        const Cell<sums> cell = cells[(i64)(y - p.begin) * p.width + x];
#pragma unroll
        for (int s = 0; s < sums; ++s) column[i][s] += sign * cell.values[s];
      }
    };
    for (int y = max(place.first - p.radius, 0); y < min(place.first + p.radius, p.height); ++y) change(y, 1);
    for (int y = place.first; y < place.last; ++y) {
      if (y + p.radius < p.height) change(y + p.radius, 1);
      if (y > place.first && y - p.radius > 0) change(y - p.radius - 1, -1);
      __syncwarp();
      prefix_sums<sums>(column, columns.lane, prefix);
      __syncwarp();
#pragma unroll
      for (int i = 0; i < lane_columns; ++i) {
        if (!columns.has_box(p, i)) continue;
        const Cell<sums> box = box_of<sums>(prefix, columns.lane + 32 * i, p.radius);
        const int x = columns.x(i);
        const u32 guide = p.packed_guide[(i64)y * p.width + x];
        float product = (float)box.values[0] * (float)guide_value(guide, 0);
#pragma unroll
        for (int c = 1; c < kChannels; ++c) product += (float)box.values[c] * (float)guide_value(guide, c);
        const float share = share_of<kChannels>(p, (i64)(y - p.begin) * p.width + x);
        p.filtered[k * out_plane + (i64)(y - p.first) * p.width + x] =
            (product * p.unit_a + (float)box.values[kChannels] * p.unit_b) * share;
      }
    }
  }
}

// ---- Selection: wta.hpp, from planes of disparities, of several levels: cross_scale.hpp.

template <bool kLevels>
__device__ __forceinline__ float cost_at(const SelectProblem& p, int x, int row, int k) {
  float cost = p.levels[0].costs[((i64)k * p.rows + row) * p.width + x];
  if constexpr (kLevels) {
    cost = p.levels[0].weight * cost;
    for (int s = 1; s < p.count; ++s) {
      const LevelPlanes& level = p.levels[s];
      const int d = p.min_disparity + k;
      const int index = (p.from_right ? d >> s : -(-d >> s)) - level.min_disparity;
      const int coarse_row = ((p.first_row + row) >> s) - level.first_row;
      cost = cost + level.weight * level.costs[((i64)index * level.rows + coarse_row) * level.width + (x >> s)];
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
           (p.mask_right == nullptr || p.mask_right[row * p.mask_right_pitch + clamped(x - p.min_disparity - k, p.width)] != 0);
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
    if (p.uniqueness > 0 && second != no_cost && second * (float)(100 - p.uniqueness) < lowest * 100.0f) reason = ambiguous;
  }
  float result = __uint_as_float(0x7FC00000u), trust = 0;
  if (reason == 0) {
    result = (float)(p.min_disparity + best);
    if (p.subpixel != 0 && is_candidate(best - 1) && is_candidate(best + 1))
      result += subpixel_offset(p.subpixel, cost_at<kLevels>(p, x, row, best - 1), lowest, cost_at<kLevels>(p, x, row, best + 1));
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

#define STEREOPSIS_CHANNELS(name, channels)                                                                               \
  __global__ void pack_guide_##name(const __grid_constant__ FilterProblem p) { pack_guide<channels>(p); }               \
  __global__ void guide_columns_##name(const __grid_constant__ FilterProblem p) { sum_guide_columns<channels>(p); }     \
  __global__ void statistics_##name(const __grid_constant__ FilterProblem p) { window_statistics<channels>(p); }        \
  __global__ void __launch_bounds__(32 * warps_in_block) filter_##name(const __grid_constant__ FilterProblem p) {       \
    filter<channels>(p);                                                                                                  \
  }
STEREOPSIS_CHANNELS(grey, 1)
STEREOPSIS_CHANNELS(colour, 3)

#define STEREOPSIS_KIND(name, Kind)                                                                                         \
  __global__ void __launch_bounds__(32 * warps_in_block) coefficients_##name##_grey(const __grid_constant__ FilterProblem p) {   \
    make_coefficients<Kind, 1>(p);                                                                                          \
  }                                                                                                                         \
  __global__ void __launch_bounds__(32 * warps_in_block) coefficients_##name##_colour(const __grid_constant__ FilterProblem p) { \
    make_coefficients<Kind, 3>(p);                                                                                          \
  }
STEREOPSIS_KIND(census32, Census32)
STEREOPSIS_KIND(census64, Census64)
STEREOPSIS_KIND(census128, Census128)
STEREOPSIS_KIND(colour_gradient, ColourGradient)

__global__ void select_one(const __grid_constant__ SelectProblem p) { select<false>(p); }
__global__ void select_levels(const __grid_constant__ SelectProblem p) { select<true>(p); }

}  // extern "C"
