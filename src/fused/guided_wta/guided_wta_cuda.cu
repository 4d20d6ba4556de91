// CUDA kernels for the guided filter of costs, and for the selection from its planes. A warp walks down its columns,
// with four neighbouring columns per lane, and keeps the sums of the columns in registers. Box sums are differences of
// prefix sums over the columns of the warp. All sums are integers, so that they do not depend on their order.
#include "device/cuda/words.cuh"
#include "fused/guided_wta/guided_wta_cuda_problem.hpp"

namespace stereopsis::guided_wta {
namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int disparities_of_costs = tuning.disparities_of_costs, warps_in_block = tuning.warps_in_block;
constexpr int blocks_of_coefficients = tuning.blocks_of_coefficients, spans_of_filter = tuning.filter_spans;
constexpr int rows_in_filter_block = tuning.rows_in_filter_block;
template <int kChannels>
constexpr int spans_of_coefficients = tuning.spans(kChannels);
template <int kChannels>
constexpr int blocks_of_filter = tuning.filter_blocks(kChannels);
// Number of neighbouring pixels of a lane in a span; one load or store accesses all of them.
constexpr int lane_columns = 4;
static_assert(32 * lane_columns == span);
constexpr unsigned all_lanes = 0xFFFFFFFFu;

__device__ __forceinline__ int clamped(int i, int size) { return min(max(i, 0), size - 1); }

__device__ __forceinline__ float part(const float4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
__device__ __forceinline__ u32 part(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// The supported matching costs of stages/cost.
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

// Computes the costs of four neighbouring pixels per thread, for several consecutive disparities. Each further
// disparity needs one new word of the right view.
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

// ---- Statistics of the guide ----

// The planes with the statistics of each window: K, 1/N, the bytes of m, and δ.
template <int kChannels>
struct WindowPlanes {
  static constexpr int k_count = kChannels * (kChannels + 1) / 2;
  static constexpr int share = k_count, m = share + 1, delta = m + 1, count = delta + kChannels;
  static constexpr int guide_sums = kChannels + k_count;
  static_assert(count == statistics_numbers(kChannels) && guide_sums == guide_sums_of(kChannels));
};

// Returns byte i of a word as a signed number. Intensities are stored relative to 128.
__device__ __forceinline__ int signed_byte(u32 packed, int i) { return (int)(packed << (24 - 8 * i)) >> 24; }

// The guide of a lane's neighbouring pixels: one byte per pixel for a grey guide, and one word, whose highest byte is
// 0, for a colour guide.
template <int kChannels>
struct GuideOf {
  using Quad = uint4;
};
template <>
struct GuideOf<1> {
  using Quad = u32;
};
template <int kChannels>
using GuideQuad = typename GuideOf<kChannels>::Quad;
template <int kChannels>
constexpr int guide_pixel_bytes = kChannels == 1 ? 1 : 4;

template <int kChannels>
__device__ __forceinline__ GuideQuad<kChannels> guide_quad(const FilterProblem& p, int x, int y) {
  return *reinterpret_cast<const GuideQuad<kChannels>*>(p.guide_bytes +
                                                        ((i64)y * p.pitch + x) * guide_pixel_bytes<kChannels>);
}

// Each thread prepares four rows of one column: the bytes of the guide, and the sums of these bytes.
template <int kChannels>
__device__ __forceinline__ void prepare_guide(const FilterProblem& p) {
  constexpr int rows = 4, sums_count = WindowPlanes<kChannels>::guide_sums;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * rows, to = min(from + rows, p.height);
  if (x >= p.width) return;
  const auto pixel = [&](int y, int c) { return p.guide[y * p.guide_pitch + x * kChannels + c] - 128; };
  for (int y = from; y < to; ++y) {
    u8* const out = p.guide_bytes + ((i64)y * p.pitch + x) * guide_pixel_bytes<kChannels>;
    for (int i = 0; i < guide_pixel_bytes<kChannels>; ++i) out[i] = i < kChannels ? (u8)pixel(y, i) : 0;
  }
  int sums[sums_count] = {};
  const auto change = [&](int y, int sign) {
    int value[kChannels], index = 0;
    for (int c = 0; c < kChannels; ++c) sums[index++] += sign * (value[c] = pixel(y, c));
    for (int c = 0; c < kChannels; ++c)
      for (int d = c; d < kChannels; ++d) sums[index++] += sign * value[c] * value[d];
  };
  const i64 plane = (i64)p.height * p.pitch;
#pragma unroll 8
  for (int y = max(from - p.radius, 0); y < min(from + p.radius, p.height); ++y) change(y, 1);
  for (int y = from; y < to; ++y) {
    if (y + p.radius < p.height) change(y + p.radius, 1);
    if (y > from && y - p.radius > 0) change(y - p.radius - 1, -1);
    for (int s = 0; s < sums_count; ++s) p.guide_columns[s * plane + (i64)y * p.pitch + x] = sums[s];
  }
}

// Computes the statistics that guided.hpp defines, in the same way as guided_oracle.cpp.
template <int kChannels>
__device__ __forceinline__ void window_statistics(const FilterProblem& p) {
  using Planes = WindowPlanes<kChannels>;
  constexpr int sums_count = Planes::guide_sums;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = p.begin + blockIdx.y;
  if (x >= p.pitch) return;
  const i64 plane = (i64)(p.end - p.begin) * p.pitch;
  float* const out = p.statistics + (i64)(y - p.begin) * p.pitch + x;
  if (x >= p.width) {  // the other pixels of the quadruple have no coefficients
    for (int i = 0; i < Planes::count; ++i) out[i * plane] = 0;
    return;
  }
  const i64 columns = (i64)p.height * p.pitch, row = (i64)y * p.pitch;
  const int left = max(x - p.radius, 0), right = min(x + p.radius, p.width - 1);
  const int n = (right - left + 1) * (min(y + p.radius, p.height - 1) - max(y - p.radius, 0) + 1);
  int sums[sums_count] = {};
  for (int u = left; u <= right; ++u)
    for (int s = 0; s < sums_count; ++s) sums[s] += p.guide_columns[s * columns + row + u];

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

// Returns whether the windows of all neighbouring pixels lie completely in the image.
__device__ __forceinline__ bool lie_inside(const FilterProblem& p, int x, int y) {
  return y >= p.radius && y + p.radius < p.height && x >= p.radius && x + lane_columns - 1 + p.radius < p.width;
}

// Returns 1/N for the windows of neighbouring pixels. Only near the border is this value read from memory.
__device__ __forceinline__ float4 shares(const FilterProblem& p, const float* plane, int x, int y) {
  if (lie_inside(p, x, y)) return {p.share, p.share, p.share, p.share};
  return *reinterpret_cast<const float4*>(plane + (i64)(y - p.begin) * p.pitch + x);
}

// ---- Boxes.

template <int kSums>
struct alignas(4 * kSums) Cell {
  u32 values[kSums];
};

// The columns of a warp: spans, in each of which a lane has four neighbouring columns, and the quadruples whose boxes
// the warp computes.
template <int kSpans>
struct Columns {
  __device__ __forceinline__ Columns(const FilterProblem& p, int segment, int segments) : lane(threadIdx.x & 31) {
    const int step = span * kSpans - 2 * p.border;
    first = segment * step;
    begin = segment == 0 ? 0 : first + p.border;
    end = segment + 1 == segments ? p.pitch : first + p.border + step;
    spans = min(kSpans, (p.width - first + span - 1) / span);
  }
  __device__ __forceinline__ int own(int which) const { return first + span * which + lane_columns * lane; }
  __device__ __forceinline__ bool makes(int which) const { return own(which) >= begin && own(which) < end; }

  int lane, first, begin, end;
  int spans;  // number of spans that overlap the image
};

// Adds the value of the lane with an index lower by `step`, if there is such a lane.
__device__ __forceinline__ u32 plus_lower(u32 value, int step) {
  u32 sum;
  asm volatile("{ .reg .pred there; shfl.sync.up.b32 %0|there, %1, %2, 0, 0xffffffff; @there add.u32 %0, %0, %1; }"
               : "=&r"(sum)
               : "r"(value), "r"(step));
  return sum;
}

// Prefix sums over the columns of a warp in shared memory, with an apron for windows that extend beyond the columns.
// Columns are stored in four groups by their index modulo 4, which avoids bank conflicts.
template <int kSums, int kSpans>
struct Prefix {
  static constexpr int apron = (widest_radius + 1 + lane_columns - 1) / lane_columns;
  static constexpr int group = 32 * kSpans + 2 * apron;
  static __device__ __forceinline__ int index(int place) { return (place & 3) * group + apron + (place >> 2); }

  // The sums before the first column are 0.
  __device__ __forceinline__ void clear_apron(int lane) {
    for (int i = lane; i < lane_columns * apron; i += 32) cells[index(-1 - i)] = {};
  }

  __device__ __forceinline__ void set(const u32 (&column)[kSpans][lane_columns][kSums], int lane, int spans,
                                      int radius) {
    Cell<kSums> before{};
#pragma unroll
    for (int w = 0; w < kSpans; ++w) {
      if (w >= spans) break;
      u32 sum[lane_columns][kSums], total[kSums];
#pragma unroll
      for (int s = 0; s < kSums; ++s) {
        sum[0][s] = column[w][0][s];
#pragma unroll
        for (int i = 1; i < lane_columns; ++i) sum[i][s] = sum[i - 1][s] + column[w][i][s];
        total[s] = sum[lane_columns - 1][s];
      }
#pragma unroll
      for (int step = 1; step < 32; step *= 2)
#pragma unroll
        for (int s = 0; s < kSums; ++s) total[s] = plus_lower(total[s], step);
#pragma unroll
      for (int i = 0; i < lane_columns; ++i) {
        Cell<kSums> cell;
#pragma unroll
        for (int s = 0; s < kSums; ++s)
          cell.values[s] = sum[i][s] + (total[s] - sum[lane_columns - 1][s] + before.values[s]);
        cells[index(span * w + i) + lane] = cell;
      }
#pragma unroll
      for (int s = 0; s < kSums; ++s) before.values[s] += __shfl_sync(all_lanes, total[s], 31);
    }
    if (lane < radius) cells[index(span * spans + lane)] = before;
  }

  // Computes the box sums around a lane's column i of span w.
  __device__ __forceinline__ void box(int lane, int w, int i, int radius, int (&sums)[kSums]) const {
    const Cell<kSums> to = cells[index(span * w + i + radius) + lane];
    const Cell<kSums> before = cells[index(span * w + i - radius - 1) + lane];
#pragma unroll
    for (int s = 0; s < kSums; ++s) sums[s] = (int)(to.values[s] - before.values[s]);
  }

  Cell<kSums> cells[lane_columns * group];
};
static_assert(widest_radius <= 32);  // a lane writes one cell beyond the columns

// Returns the dot product Σ a_i b_i of the bytes of two words.
__device__ __forceinline__ u32 dot(u32 bytes, u32 signed_bytes, u32 sum) {
  u32 result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(signed_bytes), "r"(sum));
  return result;
}

// The rows that the windows gain and lose when moving down by one row.
template <int kChannels>
struct Step {
  u32 costs_gained = 0, costs_lost = 0;
  GuideQuad<kChannels> guide_gained = {}, guide_lost = {};
};

// Updates Σ I' p and Σ p of columns whose windows gain one row and lose one row, with −x = ¬x + 1 in bytes.
template <int kChannels>
__device__ __forceinline__ void change(u32 (&column)[lane_columns][kChannels + 1], const Step<kChannels>& step) {
  constexpr u32 once_each = 0x0000FF01, not_and_one = 0x01FFFFFF;
#pragma unroll
  for (int i = 0; i < lane_columns; ++i) {
    const int gained_and_lost = 0x4440 + 0x1111 * i;
    const u32 costs = __byte_perm(step.costs_gained, step.costs_lost, gained_and_lost);
    if constexpr (kChannels == 1) {
      const u32 guide = __byte_perm(step.guide_gained, ~step.guide_lost, gained_and_lost);
      column[i][0] = dot(costs, (guide & 0x0000FFFF) | 0x00010000, column[i][0]);
    } else {
      const u32 gained = part(step.guide_gained, i), lost = part(step.guide_lost, i) ^ not_and_one;
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        column[i][c] = dot(costs, __byte_perm(gained, lost, 0x3740 + 0x11 * c), column[i][c]);
    }
    column[i][kChannels] = dot(costs, once_each, column[i][kChannels]);
  }
}

// Transposes bytes: bytes i of four words become word i.
__device__ __forceinline__ void transpose(const u32 (&in)[4], u32 (&out)[4]) {
  const u32 a = __byte_perm(in[0], in[1], 0x5140), b = __byte_perm(in[2], in[3], 0x5140);
  const u32 c = __byte_perm(in[0], in[1], 0x7362), d = __byte_perm(in[2], in[3], 0x7362);
  out[0] = __byte_perm(a, b, 0x5410);
  out[1] = __byte_perm(a, b, 0x7632);
  out[2] = __byte_perm(c, d, 0x5410);
  out[3] = __byte_perm(c, d, 0x7632);
}

// Updates the same sums for columns that gain four rows.
template <int kChannels>
__device__ __forceinline__ void gain(u32 (&column)[lane_columns][kChannels + 1], const u32 (&rows)[4],
                                     const GuideQuad<kChannels> (&guides)[4]) {
  u32 costs[4], guide[4];
  transpose(rows, costs);
  if constexpr (kChannels == 1) transpose(guides, guide);
#pragma unroll
  for (int i = 0; i < lane_columns; ++i) {
    if constexpr (kChannels == 1) {
      column[i][0] = dot(costs[i], guide[i], column[i][0]);
    } else {
      transpose({part(guides[0], i), part(guides[1], i), part(guides[2], i), part(guides[3], i)}, guide);
#pragma unroll
      for (int c = 0; c < kChannels; ++c) column[i][c] = dot(costs[i], guide[c], column[i][c]);
    }
    column[i][kChannels] = dot(costs[i], 0x01010101, column[i][kChannels]);
  }
}

// Computes the coefficients from a window's sums and statistics.
template <int kChannels, class Number>
__device__ __forceinline__ void make_coefficients(const FilterProblem& p, const int (&box)[kChannels + 1],
                                                  Number&& number, int (&out)[kChannels + 1]) {
  using Planes = WindowPlanes<kChannels>;
  const int total = box[kChannels];
  const float sum = (float)total;
  float v[kChannels], a[kChannels], mu[kChannels], offset;
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    const int m = signed_byte(__float_as_uint(number(Planes::m)), c);
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

__device__ __forceinline__ u32 cost_quad(const FilterProblem& p, const u8* costs, int x, int y) {
  return *reinterpret_cast<const u32*>(costs + (i64)y * p.pitch + x);
}

// Sums the columns of a warp over a range of rows.
template <int kChannels, int kSpans>
__device__ __forceinline__ void sum_rows(const FilterProblem& p, const u8* costs, const Columns<kSpans>& columns,
                                         int from, int to, u32 (&column)[kSpans][lane_columns][kChannels + 1]) {
  for (int y = from; y < to; y += 4)
#pragma unroll
    for (int w = 0; w < kSpans; ++w) {
      const int x = columns.own(w);
      if (x >= p.width) break;
      u32 rows[4];
      GuideQuad<kChannels> guides[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        rows[i] = y + i < to ? cost_quad(p, costs, x, y + i) : 0;
        guides[i] = guide_quad<kChannels>(p, x, min(y + i, p.height - 1));
      }
      gain<kChannels>(column[w], rows, guides);
    }
}

// Coefficients are written as prefix sums down a piece of rows, modulo 2^32. Blocks are ordered by segments,
// disparities and pieces, so that neighbouring segments share cache lines.
template <int kChannels>
__device__ __forceinline__ void sum_coefficients(const FilterProblem& p) {
  using Planes = WindowPlanes<kChannels>;
  constexpr int sums = kChannels + 1, spans = spans_of_coefficients<kChannels>;
  __shared__ Prefix<sums, spans> shared[warps_in_block];
  auto& prefix = shared[threadIdx.x / 32];
  const int blocks = (p.disparities + warps_in_block - 1) / warps_in_block, place = blockIdx.x / p.segments;
  const int disparity = place % blocks * warps_in_block + threadIdx.x / 32;
  const int first = p.begin + place / blocks * p.rows_in_piece, last = min(first + p.rows_in_piece, p.end);
  if (disparity >= p.disparities) return;
  const Columns<spans> columns(p, blockIdx.x % p.segments, p.segments);
  prefix.clear_apron(columns.lane);

  const u8* const costs = p.costs + (i64)disparity * p.height * p.pitch;
  u32 column[spans][lane_columns][sums] = {};
  sum_rows<kChannels>(p, costs, columns, max(first - p.radius, 0), min(first + p.radius, p.height), column);

  // If the cost is outside the image, the guide is irrelevant.
  const auto load = [&](int w, int gained, bool loses) {
    Step<kChannels> step;
    const int x = columns.own(w), lost = gained - 2 * p.radius - 1;
    if (x >= p.width) return step;
    if (gained < p.height) step.costs_gained = cost_quad(p, costs, x, gained);
    step.guide_gained = guide_quad<kChannels>(p, x, min(gained, p.height - 1));
    if (!loses) return step;
    if (lost >= 0) step.costs_lost = cost_quad(p, costs, x, lost);
    step.guide_lost = guide_quad<kChannels>(p, x, max(lost, 0));
    return step;
  };
  Step<kChannels> next[spans];
#pragma unroll
  for (int w = 0; w < spans; ++w) next[w] = load(w, first + p.radius, false);
  const i64 plane = (i64)(p.end - p.begin) * p.pitch;
  u32 above[spans][lane_columns][sums] = {};
  for (int y = first; y < last; ++y) {
    // Loads are in flight while the sums are computed.
    const i64 row = (i64)(y - p.begin) * p.pitch;
    float4 numbers[spans][Planes::count];
#pragma unroll
    for (int w = 0; w < spans; ++w) {
      if (w >= columns.spans) break;
      change<kChannels>(column[w], next[w]);
      next[w] = load(w, y + 1 + p.radius, true);
      if (!columns.makes(w)) continue;
      const float* const of_windows = p.statistics + columns.own(w);
#pragma unroll
      for (int n = 0; n < Planes::count; ++n)
        if (n != Planes::share) numbers[w][n] = *reinterpret_cast<const float4*>(of_windows + n * plane + row);
      numbers[w][Planes::share] = shares(p, p.statistics + Planes::share * plane, columns.own(w), y);
    }
    __syncwarp();
    prefix.set(column, columns.lane, columns.spans, p.radius);
    __syncwarp();
#pragma unroll
    for (int w = 0; w < spans; ++w) {
      if (!columns.makes(w)) continue;
#pragma unroll
      for (int i = 0; i < lane_columns; ++i) {
        int box[sums], coefficients[sums];
        prefix.box(columns.lane, w, i, p.radius, box);
        make_coefficients<kChannels>(
            p, box, [&](int n) { return part(numbers[w][n], i); }, coefficients);
#pragma unroll
        for (int s = 0; s < sums; ++s) above[w][i][s] += coefficients[s];
      }
      // Costs and guides will be read again soon. A streaming hint keeps the coefficients from evicting them from the
      // cache.
      u32* const out = p.coefficients + (i64)disparity * sums * plane + row + columns.own(w);
#pragma unroll
      for (int s = 0; s < sums; ++s)
        __stcs(reinterpret_cast<uint4*>(out + s * plane),
               make_uint4(above[w][0][s], above[w][1][s], above[w][2][s], above[w][3][s]));
    }
  }
}

// Converts a signed byte to a float.
__device__ __forceinline__ float byte_float(u32 packed, int i) {
  constexpr u32 two_to_23 = 0x4B000000;
  return __uint_as_float(__byte_perm(packed ^ 0x80808080, two_to_23, 0x7650 + i)) - (8388608.0f + 128.0f);
}
template <int kChannels>
__device__ __forceinline__ float guide_float(const GuideQuad<kChannels>& quad, int i, int channel) {
  if constexpr (kChannels == 1)
    return byte_float(quad, i);
  else
    return byte_float(part(quad, i), channel);
}

// Filters several rows per warp, one after the other. Blocks are ordered by segments, rows and disparities, so that
// rows leaving a window are still in the cache.
template <int kChannels>
__device__ __forceinline__ void filter(const FilterProblem& p) {
  constexpr int sums = kChannels + 1, spans = spans_of_filter;
  __shared__ Prefix<sums, spans> shared[warps_in_block];
  auto& prefix = shared[threadIdx.x / 32];
  const int rows = p.last - p.first, blocks = (rows + rows_in_filter_block - 1) / rows_in_filter_block;
  const int place = blockIdx.x / p.filter_segments, disparity = place / blocks;
  const int first = p.first + place % blocks * rows_in_filter_block, last = min(first + rows_in_filter_block, p.last);
  const Columns<spans> columns(p, blockIdx.x % p.filter_segments, p.filter_segments);
  prefix.clear_apron(columns.lane);

  const i64 plane = (i64)(p.end - p.begin) * p.pitch;
  const u32* const coefficients = p.coefficients + (i64)disparity * sums * plane;
  float* const filtered = p.filtered + (i64)disparity * rows * p.pitch;
  for (int y = first + threadIdx.x / 32; y < last; y += warps_in_block) {
    // The sums over the rows of a window are the prefix sum at its bottom minus the prefix sum above the window. The
    // sums of the pieces that end inside the window are added.
    u32 column[spans][lane_columns][sums] = {};
    const auto add = [&](int row, u32 sign) {
#pragma unroll
      for (int w = 0; w < spans; ++w) {
        if (columns.own(w) >= p.width) break;
#pragma unroll
        for (int s = 0; s < sums; ++s) {
          const uint4 cells =
              *reinterpret_cast<const uint4*>(coefficients + s * plane + (i64)row * p.pitch + columns.own(w));
#pragma unroll
          for (int i = 0; i < lane_columns; ++i) column[w][i][s] += sign * part(cells, i);
        }
      }
    };
    const int bottom = min(y + p.radius, p.height - 1) - p.begin, above = y - p.radius - 1 - p.begin;
    add(bottom, 1);
    if (above >= 0) add(above, -1u);
    for (int end = (max(above, 0) / p.rows_in_piece + 1) * p.rows_in_piece; end <= bottom; end += p.rows_in_piece)
      add(end - 1, 1);
    __syncwarp();
    prefix.set(column, columns.lane, columns.spans, p.radius);
    __syncwarp();
#pragma unroll
    for (int w = 0; w < spans; ++w) {
      if (!columns.makes(w)) continue;
      const int x = columns.own(w);
      const GuideQuad<kChannels> guide = guide_quad<kChannels>(p, x, y);
      const float4 share = shares(p, p.statistics + WindowPlanes<kChannels>::share * plane, x, y);
      float costs[lane_columns];
#pragma unroll
      for (int i = 0; i < lane_columns; ++i) {
        int box[sums];
        prefix.box(columns.lane, w, i, p.radius, box);
        float product = (float)box[0] * guide_float<kChannels>(guide, i, 0);
#pragma unroll
        for (int c = 1; c < kChannels; ++c) product += (float)box[c] * guide_float<kChannels>(guide, i, c);
        costs[i] = (product * p.unit_a + (float)box[kChannels] * p.unit_b) * part(share, i);
      }
      *reinterpret_cast<float4*>(filtered + (i64)(y - p.first) * p.pitch + x) = {costs[0], costs[1], costs[2],
                                                                                 costs[3]};
    }
  }
}

// ---- Selection (wta.hpp) from planes of disparities of several levels (cross_scale.hpp) ----

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
    trust = second == no_cost || second <= 0 ? 0.0f : 1.0f - fmaxf(lowest, 0.0f) / second;
  }
  p.disparity[row * p.disparity_pitch + x] = result;
  p.validity[row * p.validity_pitch + x] = (u8)reason;
  if (p.confidence != nullptr) p.confidence[row * p.confidence_pitch + x] = trust;
}

}  // namespace
}  // namespace stereopsis::guided_wta

using namespace stereopsis::guided_wta;

extern "C" {

#define STEREOPSIS_CHANNELS(name, channels)                                                                      \
  __global__ void guide_##name(const __grid_constant__ FilterProblem p) { prepare_guide<channels>(p); }          \
  __global__ void statistics_##name(const __grid_constant__ FilterProblem p) { window_statistics<channels>(p); } \
  __global__ void __launch_bounds__(32 * warps_in_block, blocks_of_coefficients)                                 \
      coefficients_##name(const __grid_constant__ FilterProblem p) {                                             \
    sum_coefficients<channels>(p);                                                                               \
  }                                                                                                              \
  __global__ void __launch_bounds__(32 * warps_in_block, blocks_of_filter<channels>)                             \
      filter_##name(const __grid_constant__ FilterProblem p) {                                                   \
    filter<channels>(p);                                                                                         \
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
