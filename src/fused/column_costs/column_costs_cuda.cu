// Costs aggregated over columns on the tensor cores: column_costs_cuda.hpp.
#include "device/cuda/words.cuh"
#include "fused/column_costs/column_costs_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::column_costs;

namespace {

constexpr CudaTuning tuning = gpu::pick(cuda_tunings, gpu::compiled_capability);
constexpr int cuda_weight_threads = tuning.weight_threads;
constexpr int cuda_weight_columns = tuning.weight_columns, cuda_weight_rows = tuning.weight_rows;
constexpr int cuda_warps = tuning.warps, cuda_blocks = tuning.blocks;

struct Layout {  // layout of an image in memory
  std::int64_t offset, pitch;
  std::int32_t width, height;
};

__device__ constexpr int padded(int rows) { return (rows + cuda_group - 1) / cuda_group * cuda_group; }

// ---- weights

// Returns 2²³ + ⌊√n⌋ as bits, for n < 2²². The function computes the root of n + 1, which is too large only if n + 1 is
// a square.
__device__ __forceinline__ u32 root_bits(float apart0, float apart1, float apart2) {
  const float above = __fmaf_rn(apart2, apart2, __fmaf_rn(apart1, apart1, __fmaf_rn(apart0, apart0, 1)));
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(above));
  const float biased = __fadd_rd(root, 8388608.0f), whole = biased - 8388608.0f;
  return __float_as_uint(biased) - (__fmaf_rn(-whole, whole, above) < 1.0f);
}

__device__ __forceinline__ float reciprocal(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

// Products of matrices of 16 × 16 or 16 × 32 bytes and matrices with 8 columns. The products with 32 bytes are added to
// earlier sums.
struct Products {
  u32 of[4];
};
__device__ __forceinline__ std::uint64_t together(u32 a, u32 b) {
  std::uint64_t both;
  asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(a), "r"(b));
  return both;
}
__device__ __forceinline__ Products multiply(std::uint64_t a, u32 b) {
  Products s;
  asm("{ .reg .b32 a0, a1; mov.b64 {a0, a1}, %4;\n\t"
      "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {a0, a1}, {%5}, {%6, %6, %6, %6}; }"
      : "=r"(s.of[0]), "=r"(s.of[1]), "=r"(s.of[2]), "=r"(s.of[3])
      : "l"(a), "r"(b), "r"(0));
  return s;
}
__device__ __forceinline__ Products multiply(std::uint64_t above, std::uint64_t below, uint2 b,
                                             const Products& before) {
  Products s;
  asm("{ .reg .b32 a0, a1, a2, a3; mov.b64 {a0, a1}, %4; mov.b64 {a2, a3}, %5;\n\t"
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {a0, a1, a2, a3}, {%6, %7}, {%8, %9, %10, "
      "%11}; }"
      : "=r"(s.of[0]), "=r"(s.of[1]), "=r"(s.of[2]), "=r"(s.of[3])
      : "l"(above), "l"(below), "r"(b.x), "r"(b.y), "r"(before.of[0]), "r"(before.of[1]), "r"(before.of[2]),
        "r"(before.of[3]));
  return s;
}

// The weights between a pixel and the pixels 1 to 16 rows below it, for the pixels of a block and of the 16 rows above
// it.
struct Weighed {
  static constexpr int rows = cuda_weight_rows + cuda_reach;
  u32 lab[rows + cuda_reach][cuda_weight_columns];
  u32 of[rows][cuda_reach / 4][cuda_weight_columns];
  std::uint8_t table[256];
};

struct Colour {  // each component plus 2²³, so that differences of floats are exact
  float of[3];
  __device__ explicit Colour(u32 word) {
    for (int i = 0; i < 3; ++i) of[i] = __uint_as_float((word >> 10 * i & 1023) | 0x4B000000);
  }
};

__device__ __forceinline__ void weigh(Weighed& weighed, const CudaWeights& w) {
  constexpr int part = 4;
  const int column = threadIdx.x % cuda_weight_columns;
  for (int first = threadIdx.x / cuda_weight_columns * part; first < Weighed::rows;
       first += cuda_weight_threads / cuda_weight_columns * part) {
    const Colour p[part] = {Colour(weighed.lab[first][column]), Colour(weighed.lab[first + 1][column]),
                            Colour(weighed.lab[first + 2][column]), Colour(weighed.lab[first + 3][column])};
    u32 made[part][cuda_reach / 4] = {};
#pragma unroll
    for (int j = 1; j < part + cuda_reach; ++j) {
      const Colour q(weighed.lab[first + j][column]);
#pragma unroll
      for (int i = 0; i < part; ++i) {
        const int k = j - i;
        if (k < 1 || k > cuda_reach) continue;
        const u32 root = root_bits(p[i].of[0] - q.of[0], p[i].of[1] - q.of[1], p[i].of[2] - q.of[2]);
        const u32 weight = weighed.table[min(255u, (w.colour_scale * root + w.distances[k]) >> 16)];
        made[i][(k - 1) / 4] |= weight << (k - 1) % 4 * 8;
      }
    }
#pragma unroll
    for (int i = 0; i < part; ++i)
#pragma unroll
      for (int c = 0; c < cuda_reach / 4; ++c) weighed.of[first + i][c][column] = made[i][c];
  }
}

// Stores the weights for four rows of adjacent pixels, 128 bytes per pixel. A lane holds four words for two rows. These
// words alternate between the pixels 1 to 16 rows above and the pixels 1 to 16 rows below.
__device__ __forceinline__ void store_weights(const Weighed& weighed, int row, int column, uint4* out) {
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    u32 above[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto word = [&](int k) { return weighed.of[row + i + cuda_reach - 1 - 4 * t - k][t][column]; };
      above[i] = __byte_perm(__byte_perm(word(0), word(1), 0x0050), __byte_perm(word(2), word(3), 0x7200), 0x7610);
    }
    out[t] = {above[0], weighed.of[row + cuda_reach][t][column], above[1], weighed.of[row + 1 + cuda_reach][t][column]};
  }
}

struct Pixels {
  const u32* words;
  Layout layout;
  __device__ u32 operator()(int x, int y) const {
    return __ldg(words + layout.offset + min(max(y, 0), layout.height - 1) * layout.pitch + min(x, layout.width - 1));
  }
};

__device__ __forceinline__ void make_weights(Weighed& weighed, const Pixels& lab, int first_x, int first_y,
                                             uint4* weights, const CudaWeights& w) {
  constexpr int lines = cuda_weight_threads / cuda_weight_columns;
  const int column = threadIdx.x % cuda_weight_columns, line = threadIdx.x / cuda_weight_columns, x = first_x + column;
  for (int row = line; row < Weighed::rows + cuda_reach; row += lines)
    weighed.lab[row][column] = lab(x, first_y - cuda_reach + row);
  weighed.table[threadIdx.x] = w.table[threadIdx.x];
  __syncthreads();
  weigh(weighed, w);
  __syncthreads();
  if (x >= lab.layout.width) return;
  for (int row = 2 * line; row < cuda_weight_rows && first_y + row < padded(lab.layout.height); row += 2 * lines) {
    const int y = first_y + row;
    store_weights(weighed, row, column,
                  weights + ((static_cast<std::int64_t>(y / 4) * lab.layout.width + x) * 2 + y / 2 % 2) * 4);
  }
}

// Stores the colours in groups of four rows, from 16 rows above the image to 16 rows below it.
__device__ __forceinline__ void store_colours(const Pixels& rgb, int first_x, uint4* colours) {
  const int x = first_x + threadIdx.x % cuda_weight_columns;
  const int groups = padded(rgb.layout.height) / 4 + 2 * cuda_reach / 4;
  if (x >= rgb.layout.width) return;
  for (int group = blockIdx.y + threadIdx.x / cuda_weight_columns * gridDim.y; group < groups;
       group += cuda_weight_threads / cuda_weight_columns * gridDim.y) {
    const int y = 4 * group - cuda_reach;
    colours[static_cast<std::int64_t>(group) * rgb.layout.width + x] = {rgb(x, y), rgb(x, y + 1), rgb(x, y + 2),
                                                                        rgb(x, y + 3)};
  }
}

// ---- costs

// A warp computes the cells of 16 left pixels and 8 right columns, row by row. A lane holds its part of a matrix
// product: two of these columns, with two left pixels each. The two left pixels are 8 columns apart, so that each has 8
// disparities with 8 adjacent right pixels.
//
// With up to 64 disparities (`pair`), a tile of right pixels combines with only 8 left pixels, and the other 8 belong
// to the next tile. Products are then computed for both tiles, and half of each product is discarded.

// The positions of these columns in a row.
template <bool pair>
struct Columns {
  static constexpr int tiles = pair ? 2 : 1;
  u32 left[2], right[tiles], colour_left[2], colour_right[tiles][2];
};

// The weights of two rows, in the order of store_weights.
template <bool pair>
struct Weights {
  uint4 left[2], right[Columns<pair>::tiles];
};
template <bool pair>
__device__ __forceinline__ Weights<pair> load_weights(const Columns<pair>& columns, const uint4* left,
                                                      const uint4* right) {
  Weights<pair> weights;
  for (int i = 0; i < 2; ++i) weights.left[i] = __ldg(left + columns.left[i]);
  for (int i = 0; i < Columns<pair>::tiles; ++i) weights.right[i] = __ldg(right + columns.right[i]);
  return weights;
}

// The weights of one row, for the pixels above and below.
template <bool pair>
struct RowWeights {
  std::uint64_t left[2];  // weights of the two left pixels
  uint2 right[Columns<pair>::tiles];
  // The value of `zero` is unknown to the compiler. The compiler therefore arranges the operands of products once,
  // instead of for each product.
  __device__ RowWeights(const Weights<pair>& w, bool second, u32 zero) {
    const auto half = [&](const uint4& v) { return second ? uint2{v.z, v.w} : uint2{v.x, v.y}; };
    const uint2 a = half(w.left[0]), b = half(w.left[1]);
    left[0] = together(a.x | zero, b.x | zero);
    left[1] = together(a.y | zero, b.y | zero);
    for (int i = 0; i < Columns<pair>::tiles; ++i) right[i] = half(w.right[i]);
  }
};

// The colours of four rows.
template <bool pair>
struct Colours {
  uint4 left[2], right[Columns<pair>::tiles][2];
};
template <bool pair>
__device__ __forceinline__ Colours<pair> load_colours(const Columns<pair>& columns, const uint4* left,
                                                      const uint4* right) {
  Colours<pair> colours;
  for (int i = 0; i < 2; ++i) colours.left[i] = __ldg(left + columns.colour_left[i]);
  for (int i = 0; i < Columns<pair>::tiles; ++i)
    for (int j = 0; j < 2; ++j) colours.right[i][j] = __ldg(right + columns.colour_right[i][j]);
  return colours;
}

constexpr int cells = 4;                                // per lane
constexpr int window_words = (2 * cuda_reach + 4) / 4;  // words that hold the rows read by four rows, one byte per row
constexpr u32 own_weight = 255 * 255;                   // product of the weights of both views for the pixel itself

// Returns the costs of a cell in four rows, one byte each.
template <bool pair>
__device__ __forceinline__ u32 costs_of(const Colours<pair>& c, int cell, u32 truncation) {
  const uint4 &l = c.left[cell / 2], &r = c.right[pair ? cell / 2 : 0][cell % 2];
  const u32 first = __vminu2(__byte_perm(__vsadu4(l.x, r.x), __vsadu4(l.y, r.y), 0x5410), truncation),
            second = __vminu2(__byte_perm(__vsadu4(l.z, r.z), __vsadu4(l.w, r.w), 0x5410), truncation);
  return __byte_perm(first, second, 0x6420);
}

// Masks for the lane's part of a matrix: all bits are set in its quarter of the taps.
struct Quarters {
  u32 own[4];
};

// Takes one left pixel from one product and the other left pixel from another product.
__device__ __forceinline__ Products halves(const Products& a, const Products& b) {
  return {{a.of[0], a.of[1], b.of[2], b.of[3]}};
}

// Returns the products of the weights of both views for the tap `tap`. A tap is a byte of a pixel's weights. A lane
// holds 8 taps.
template <bool pair>
__device__ __forceinline__ Products products(const RowWeights<pair>& w, const Quarters& quarters, int tap) {
  const u32 mask = quarters.own[tap % cuda_reach / 4] & (255u << tap % 4 * 8);
  const bool below = tap >= cuda_reach;
  const auto with = [&](int tile) {
    return multiply(w.left[below], (below ? w.right[tile].y : w.right[tile].x) & mask);
  };
  if constexpr (pair)
    return halves(with(0), with(1));
  else
    return with(0);
}

template <bool pair>
__device__ __forceinline__ Products all_products(const RowWeights<pair>& w) {
  const Products own = {{own_weight, own_weight, own_weight, own_weight}};
  const auto with = [&](int tile) { return multiply(w.left[0], w.left[1], w.right[tile], own); };
  if constexpr (pair)
    return halves(with(0), with(1));
  else
    return with(0);
}

// Adds the weighted costs of row `row` of a group of four rows. One instruction combines costs and products of two
// rows.
template <int row, bool pair>
__device__ __forceinline__ void add_row(u32 (&sums)[cells], const u32 (&costs)[cells][window_words],
                                        const RowWeights<pair>& w, const Quarters& quarters) {
  const auto taken = [](int apart) { return apart >= -cuda_reach && apart <= cuda_reach; };
  const auto made = [&](int apart) {
    if (apart == 0) return Products{{own_weight, own_weight, own_weight, own_weight}};
    return products(w, quarters, apart < 0 ? -apart - 1 : cuda_reach - 1 + apart);
  };
#pragma unroll
  for (int p = row / 2; p <= (row + 2 * cuda_reach) / 2; ++p) {
    const int first = 2 * p - row - cuda_reach;  // distance, in rows, to the first row of the pair
    Products pairs;
    if (!taken(first + 1)) {
      pairs = made(first);
    } else {
      const Products upper = made(first + 1);
      const Products lower = taken(first) ? made(first) : Products{};
#pragma unroll
      for (int q = 0; q < cells; ++q) pairs.of[q] = __byte_perm(lower.of[q], upper.of[q], 0x5410);
    }
#pragma unroll
    for (int q = 0; q < cells; ++q)
      sums[q] = p % 2 == 0 ? __dp2a_lo(pairs.of[q], costs[q][p / 2], sums[q])
                           : __dp2a_hi(pairs.of[q], costs[q][p / 2], sums[q]);
  }
}

// Returns the rounded average of costs in units of 1/128, and this average rounded to an integer. The rounded average
// is the largest n with n w − s ≤ w (1/2 + 1/256). The quotient, rounded to nearest, is n or n − 1, because the
// truncated part of the sum is at most 1/254 of w.
__device__ __forceinline__ u32 average(u32 sum, u32 weight) {
  const float divisor = __fmaf_rn(__uint_as_float(weight | 0x4B000000), 1.0f / 256, -32768.0f);  // w / 256
  const float part = __uint_as_float(__byte_perm(sum, 0x4B000000, 0x7321)) - 8388608.0f;         // ⌊s / 256⌋
  const u32 near = __float_as_uint(__fmaf_rn(part, reciprocal(divisor), 8388608.0f)) - 0x4B000000;
  const u32 missing = near * weight - sum;  // the difference is negative if there is a remainder
  return near + (weight * 127 - 1 + (missing << 8) >> 31);
}

// `even` is true if the number of disparities is even.
template <bool pair, bool even>
__device__ __forceinline__ void make_costs(const uint4* __restrict__ weights, const uint4* __restrict__ colours,
                                           std::uint8_t* costs, const CudaColumns& c) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int unit = blockIdx.x / cuda_tile * cuda_warps + threadIdx.x / 32, remainder = blockIdx.x % cuda_tile;
  if (unit >= c.units) return;
  const int chunks = pair ? 1 : (c.disparities + 127) / 128;
  const int tile = c.first_tile + (pair ? 2 * unit : unit / chunks), first_k = pair ? 0 : unit % chunks * 128;
  const auto inside = [&](int column) { return min(max(column, 0), c.width - 1); };
  Columns<pair> columns;
  bool wanted[2], wanted_next[2];  // true if the disparities are in the search range
  std::uint8_t* out[2];
  for (int i = 0; i < 2; ++i) {
    const int x = cuda_tile * (tile + g + (pair ? i : 8 * i)) + first_k + remainder;
    const int k = first_k + cuda_tile * (g + (pair ? 0 : 8 * i)) + 6 - 2 * t;
    columns.left[i] = 8 * inside(x) + t;
    columns.colour_left[i] = inside(x);
    wanted[i] = x >= 0 && x < c.width && k < c.disparities;
    wanted_next[i] = wanted[i] && k + 1 < c.disparities;
    out[i] = costs + static_cast<std::int64_t>(inside(x)) * c.disparities + k;
  }
  if (!__any_sync(0xFFFFFFFF, wanted[0] || wanted[1])) return;
  for (int i = 0; i < Columns<pair>::tiles; ++i) {
    const int first = cuda_tile * (tile + i) + remainder - (cuda_tile - 1) - c.min_disparity;
    columns.right[i] = 8 * inside(first + g) + t;
    for (int j = 0; j < 2; ++j) columns.colour_right[i][j] = inside(first + 2 * t + j);
  }
  Quarters quarters;
  for (int i = 0; i < 4; ++i) quarters.own[i] = t == i ? 0xFFFFFFFF : 0;
  const u32 zero = c.height >> 31, truncation = c.truncation * 0x10001;

  const int groups = padded(c.height) / 4, all_groups = groups + 2 * cuda_reach / 4;
  const int first_group = blockIdx.y * c.groups, end_group = min(first_group + c.groups, groups);
  const auto colours_of = [&](int group) {
    const uint4* row = colours + static_cast<std::int64_t>(group) * c.width;
    return load_colours<pair>(columns, row, row + static_cast<std::int64_t>(all_groups) * c.width);
  };
  const auto weights_of = [&](int group, int half) {
    const uint4* row = weights + static_cast<std::int64_t>(group) * c.width * 8 + 4 * half;
    return load_weights<pair>(columns, row, row + static_cast<std::int64_t>(groups) * c.width * 8);
  };
  u32 window[cells][window_words];
#pragma unroll
  for (int j = 0; j < window_words; ++j) {
    const Colours<pair> four = colours_of(first_group + j);
#pragma unroll
    for (int q = 0; q < cells; ++q) window[q][j] = costs_of<pair>(four, q, truncation);
  }
  const std::int64_t out_pitch = static_cast<std::int64_t>(c.width) * c.disparities;
  for (int i = 0; i < 2; ++i) out[i] += 4 * first_group * out_pitch;
  Weights<pair> w = weights_of(first_group, 0);
  for (int group = first_group; group < end_group; ++group) {
    const auto make_row = [&]<int i>() {
      const RowWeights<pair> row(w, i % 2 == 1, zero);
      u32 sums[cells] = {};
      add_row<i, pair>(sums, window, row, quarters);
      const Products total = all_products<pair>(row);
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const u32 second = average(sums[2 * n], total.of[2 * n]), first = average(sums[2 * n + 1], total.of[2 * n + 1]);
        const bool inside = 4 * group + i < c.height;
        if constexpr (even) {
          if (inside && wanted[n])
            *reinterpret_cast<std::uint16_t*>(out[n]) = static_cast<std::uint16_t>(second << 8 | first);
        } else {
          if (inside && wanted[n]) out[n][0] = static_cast<std::uint8_t>(first);
          if (inside && wanted_next[n]) out[n][1] = static_cast<std::uint8_t>(second);
        }
        out[n] += out_pitch;
      }
    };
    Weights<pair> next = weights_of(group, 1);
    make_row.template operator()<0>();
    make_row.template operator()<1>();
    w = next;
    next = weights_of(min(group + 1, groups - 1), 0);
    const Colours<pair> four = colours_of(min(group + window_words, all_groups - 1));
    make_row.template operator()<2>();
    make_row.template operator()<3>();
    w = next;
#pragma unroll
    for (int q = 0; q < cells; ++q) {
#pragma unroll
      for (int j = 0; j + 1 < window_words; ++j) window[q][j] = window[q][j + 1];
      window[q][window_words - 1] = costs_of<pair>(four, q, truncation);
    }
  }
}

}  // namespace

extern "C" {

// Computes the weights of both views, of the left view first.
__global__ void __launch_bounds__(cuda_weight_threads)
    weights_any(const u32* lab_left, Layout lab_left_layout, const u32* lab_right, Layout lab_right_layout,
                const u32* left, Layout left_layout, const u32* right, Layout right_layout, uint4* weights,
                std::int64_t weights_offset, uint4* colours, std::int64_t colours_offset, const CudaWeights w) {
  __shared__ Weighed weighed;
  const int width = left_layout.width, height = padded(left_layout.height);
  const int blocks = (width + cuda_weight_columns - 1) / cuda_weight_columns;
  const bool is_right = blockIdx.x >= blocks;
  const int first_x = blockIdx.x % blocks * cuda_weight_columns;
  const std::int64_t behind_weights = is_right ? static_cast<std::int64_t>(width) * height * 2 : 0,
                     behind_colours = is_right ? static_cast<std::int64_t>(width) * (height + 2 * cuda_reach) / 4 : 0;
  store_colours(is_right ? Pixels{right, right_layout} : Pixels{left, left_layout}, first_x,
                colours + colours_offset + behind_colours);
  make_weights(weighed, is_right ? Pixels{lab_right, lab_right_layout} : Pixels{lab_left, lab_left_layout}, first_x,
               blockIdx.y * cuda_weight_rows, weights + weights_offset + behind_weights, w);
}

#define STEREOPSIS_COSTS(name, pair, even)                                                                             \
  __global__ void __launch_bounds__(32 * cuda_warps, cuda_blocks)                                                      \
      costs_##name(const uint4* weights, std::int64_t weights_offset, const uint4* colours,                            \
                   std::int64_t colours_offset, std::uint8_t* costs, std::int64_t costs_offset, const CudaColumns c) { \
    make_costs<pair, even>(weights + weights_offset, colours + colours_offset, costs + costs_offset, c);               \
  }
STEREOPSIS_COSTS(wide_even, false, true)
STEREOPSIS_COSTS(wide_odd, false, false)
STEREOPSIS_COSTS(narrow_even, true, true)
STEREOPSIS_COSTS(narrow_odd, true, false)
}
