// Adaptive support weights in two passes, computed as matrix products: asw_separable_wta_cuda.hpp.
#include "fused/asw_separable_wta/asw_separable_wta_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::asw_separable_wta;

namespace {

constexpr CudaTuning tuning = gpu::pick(cuda_tunings, gpu::compiled_capability);
constexpr int cuda_weight_threads = tuning.weight_threads, weight_blocks = tuning.weight_blocks;
constexpr int cuda_warps = tuning.warps, cuda_most_tiles = tuning.most_tiles;
template <int blocks>
constexpr int run_tiles = tuning.run_tiles(blocks);
template <int blocks>
constexpr int horizontal_blocks = tuning.horizontal_threads / (32 * run_tiles<blocks>);
template <int blocks>
constexpr int vertical_blocks = blocks == 3 ? tuning.vertical_blocks : tuning.large_blocks;

struct Layout {  // layout of an image in memory
  std::int64_t offset, pitch;
  std::int32_t width, height;
};

// The pixels of an image, with replicated borders.
struct Pixels {
  const std::uint32_t* words;
  Layout layout;
  __device__ const std::uint32_t* at(int x, int y) const {
    const std::int64_t row = min(max(y, 0), layout.height - 1);
    return words + layout.offset + row * layout.pitch + min(max(x, 0), layout.width - 1);
  }
  __device__ std::uint32_t operator()(int x, int y) const { return __ldg(at(x, y)); }
};

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// Copies to shared memory asynchronously. The data is available after wait_for_copies().
template <int bytes>
__device__ __forceinline__ void copy_ahead(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(bytes));
}
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__device__ __forceinline__ int tiles_of(int pixels) { return (pixels + cuda_tile - 1) / cuda_tile; }

template <int blocks_>
struct Shape {
  static constexpr int blocks = blocks_, reach = cuda_reach(blocks);
  static constexpr int tiles = run_tiles<blocks>, run = cuda_tile * tiles, threads = 32 * tiles;
  static constexpr int input = run + 2 * reach;  // number of pixels that the sums of a run read
};

// ---- weights

// Returns 2²³ + ⌊√n⌋ as bits, for n < 2²². The function computes the root of n + 1, which is too large only if n + 1 is
// a square.
__device__ __forceinline__ std::uint32_t root_bits(float apart0, float apart1, float apart2) {
  const float above = __fmaf_rn(apart2, apart2, __fmaf_rn(apart1, apart1, __fmaf_rn(apart0, apart0, 1)));
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(above));
  const float biased = __fadd_rd(root, 8388608.0f), whole = biased - 8388608.0f;
  return __float_as_uint(biased) - (__fmaf_rn(-whole, whole, above) < 1.0f);
}

// Hides a value from the compiler. A product with a power of two then remains a multiplication, which runs on an idle
// pipe.
__device__ __forceinline__ std::uint32_t opaque(std::uint32_t v) {
  asm("" : "+r"(v));
  return v;
}

// Divides a sum S ≤ 32640 w of products by w, the sum of the weights, with rounding to nearest: ⌊(S + ⌊w / 2⌋) / w⌋ =
// ⌊(S + ⌊w / 2⌋) 2ᵃ m / 2⁴⁸⌋, where 2¹⁶ < 2ᵃ w ≤ 2¹⁷, m = ⌈2⁴⁸ / (2ᵃ w)⌉, a ≥ 3. The first factor is below 2³². The
// error of m is therefore smaller than the change that moves the quotient to the next multiple of 1 / w.
struct Divider {
  std::uint32_t multiplier, scale, half;
  __device__ explicit Divider(uint2 divisor) : multiplier(divisor.x) {
    const int shift = __clz(divisor.y - 1) - 15;
    scale = opaque(1u << shift);
    half = divisor.y >> 1 << shift;
  }
  static __device__ uint2 divisor(std::uint32_t w) {
    return {__double2uint_ru(281474976710656.0 / (w << (__clz(w - 1) - 15))), w};
  }
};

// The weights of adjacent runs of pixels: between pixel k of the input of a run and the pixel at distance i after it.
// Each weight is computed once per pair of pixels.
template <class S>
struct Weights {
  static constexpr int planes = S::reach + cuda_tile;  // the planes beyond the reach are zero
  static constexpr int starts = S::run + S::reach;     // pixels
  __device__ const std::uint8_t* place(int line, int i, int k) const { return &of[line][i][k]; }

  alignas(16) float lab[3][cuda_rows][S::input];
  alignas(4) std::uint8_t of[cuda_rows][planes][starts + 4];  // an odd number of words avoids bank conflicts
  std::uint8_t table[256];
};

template <class S>
__device__ __forceinline__ void weigh(Weights<S>& weights, const CudaWeights& w) {
  constexpr int part = 8, parts = S::reach / part, quads = Weights<S>::starts / 4;
  for (int item = threadIdx.x; item < cuda_rows * parts * quads; item += cuda_weight_threads) {
    const int k = item % quads * 4, line = item / quads % cuda_rows, first = item / (quads * cuda_rows) * part;
    float p[3][4], q[3][part + 4];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const float* lab = &weights.lab[c][line][k];
      *reinterpret_cast<float4*>(p[c]) = *reinterpret_cast<const float4*>(lab);
#pragma unroll
      for (int i = 0; i < part + 4; i += 4)
        *reinterpret_cast<float4*>(q[c] + i) = *reinterpret_cast<const float4*>(lab + first + i);
    }
#pragma unroll
    for (int i = 1; i <= part; ++i) {
      std::uint32_t four[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int at = i + j;
        const std::uint32_t root = root_bits(p[0][j] - q[0][at], p[1][j] - q[1][at], p[2][j] - q[2][at]);
        four[j] = weights.table[min(255u, (w.colour_scale * root + w.distances[first + i]) >> 16)];
      }
      *reinterpret_cast<std::uint32_t*>(&weights.of[line][first + i][k]) =
          __byte_perm(__byte_perm(four[0], four[1], 0x0040), __byte_perm(four[2], four[3], 0x0040), 0x5410);
    }
  }
}

// Stores the weights of a tile as a band of a matrix, in the order in which the lanes hold it. Row m has the weights of
// pixel m for the `span` pixels that the sums of the tile read, with zeros on both sides.
template <class S>
__device__ __forceinline__ void store_band(const Weights<S>& weights, int line, int tile, std::int64_t place,
                                           uint2* bands, uint2* divisors) {
  const int lane = threadIdx.x % 32, start = tile * cuda_tile + S::reach;
  std::uint32_t sums[2] = {};
#pragma unroll
  for (int j = 0; j < S::blocks; ++j) {
    std::uint32_t words[2] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        const int m = lane / 4 + 8 * half, offset = cuda_tile * j - S::reach + lane % 4 * 4 + b - m;
        const std::uint32_t weight = *weights.place(line, abs(offset), start + m + min(offset, 0));
        words[half] |= weight << 8 * b;
      }
      sums[half] = __dp4a(words[half], 0x01010101u, sums[half]);
    }
    bands[(place * S::blocks + j) * 32 + lane] = {words[0], words[1]};
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sums[half] += __shfl_xor_sync(0xFFFFFFFF, sums[half], 1);
    sums[half] += __shfl_xor_sync(0xFFFFFFFF, sums[half], 2);
  }
  if (lane % 4 < 2)
    divisors[place * cuda_tile + lane / 4 + 8 * (lane % 4)] = Divider::divisor(lane % 4 == 0 ? sums[0] : sums[1]);
}

// Computes the bands of run number `nth`, for `cuda_rows` rows in the horizontal pass, or for as many columns in the
// vertical pass. Tiles are stored in the order in which the passes process them.
template <class S>
__device__ void make_bands(Weights<S>& weights, const Pixels& lab, bool is_vertical, int nth, uint2* bands,
                           uint2* divisors, const CudaWeights& w) {
  const int width = lab.layout.width, height = lab.layout.height;
  const int lines = is_vertical ? width : height, tiles = tiles_of(is_vertical ? height : width);
  const int runs = (tiles + S::tiles - 1) / S::tiles, first_line = nth / runs * cuda_rows,
            first_tile = nth % runs * S::tiles;
  constexpr int pixels = cuda_rows * S::input, rounds = (pixels + cuda_weight_threads - 1) / cuda_weight_threads;
  std::uint32_t words[rounds];
  const auto line_of = [&](int i) { return is_vertical ? i % cuda_rows : i / S::input; };
  const auto k_of = [&](int i) { return is_vertical ? i / cuda_rows : i % S::input; };
#pragma unroll
  for (int n = 0; n < rounds; ++n) {
    const int i = threadIdx.x + n * cuda_weight_threads, across = first_line + line_of(i),
              along = first_tile * cuda_tile - S::reach + k_of(i);
    words[n] = is_vertical ? lab(across, along) : lab(along, across);
  }
  for (int i = threadIdx.x; i < 256; i += cuda_weight_threads) weights.table[i] = w.table[i];
  constexpr int plane = sizeof weights.of[0][0];
  for (int line = 0; line < cuda_rows; ++line) {
    auto* zeros = reinterpret_cast<std::uint32_t*>(weights.of[line][S::reach + 1]);
    for (int i = threadIdx.x; i < (cuda_tile - 1) * plane / 4; i += cuda_weight_threads) zeros[i] = 0;
    if (threadIdx.x < plane / 4)
      // The weight of a pixel for itself is 255.
      reinterpret_cast<std::uint32_t*>(weights.of[line][0])[threadIdx.x] = 0xFFFFFFFF;
  }
#pragma unroll
  for (int n = 0; n < rounds; ++n) {
    const int i = threadIdx.x + n * cuda_weight_threads;
    if (i >= pixels) break;
#pragma unroll
    for (int c = 0; c < 3; ++c) weights.lab[c][line_of(i)][k_of(i)] = static_cast<float>(words[n] >> 10 * c & 1023);
  }
  __syncthreads();
  weigh(weights, w);
  __syncthreads();
  for (int i = threadIdx.x / 32; i < cuda_rows * S::tiles; i += cuda_weight_threads / 32) {
    const int line = first_line + i / S::tiles, tile = first_tile + i % S::tiles;
    const std::int64_t place =
        is_vertical ? static_cast<std::int64_t>(tile) * width + line : static_cast<std::int64_t>(line) * tiles + tile;
    if (line < lines && tile < tiles) store_band(weights, i / S::tiles, i % S::tiles, place, bands, divisors);
  }
}

// ---- products

// Accumulates the products of the bands, 16 × 16 n bytes, and 16 n × 8 bytes of costs, for n = 2 and 1.
struct Sums {
  std::uint32_t of[4];
};
__device__ __forceinline__ Sums multiply(uint2 a0, uint2 a1, std::uint32_t b0, std::uint32_t b1, Sums before = {}) {
  Sums s;
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, "
      "%13};"
      : "=r"(s.of[0]), "=r"(s.of[1]), "=r"(s.of[2]), "=r"(s.of[3])
      : "r"(a0.x), "r"(a0.y), "r"(a1.x), "r"(a1.y), "r"(b0), "r"(b1), "r"(before.of[0]), "r"(before.of[1]),
        "r"(before.of[2]), "r"(before.of[3]));
  return s;
}
__device__ __forceinline__ Sums multiply(uint2 a, std::uint32_t b, Sums before) {
  Sums s;
  asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=r"(s.of[0]), "=r"(s.of[1]), "=r"(s.of[2]), "=r"(s.of[3])
      : "r"(a.x), "r"(a.y), "r"(b), "r"(before.of[0]), "r"(before.of[1]), "r"(before.of[2]), "r"(before.of[3]));
  return s;
}

// Loads matrices of 8 × 16 bytes, one per word, with a row from each of eight lanes.
__device__ __forceinline__ uint2 load_two(const void* row) {
  uint2 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(v.x), "=r"(v.y)
               : "r"(shared_address(row)));
  return v;
}
__device__ __forceinline__ std::uint32_t load_one(const void* row) {
  std::uint32_t v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(shared_address(row)));
  return v;
}

// ---- the horizontal pass ----

template <class S>
struct Costs {
  // An odd multiple of 16, with padding after every 8 rows, avoids bank conflicts.
  static constexpr int pitch = S::input + 16;
  // Size of the ring buffer for the candidates of the current and the next slice.
  static constexpr int ring = 256;
  __device__ std::uint8_t* row(int row, int d) { return cells[row][d / 8] + d % 8 * pitch; }

  alignas(16) std::uint8_t cells[cuda_rows][cuda_slice / 8][8 * pitch + 32];
  alignas(16) std::uint32_t left[cuda_rows][S::input];
  // The multiplier, 128 times the scale, and half of the divisor, for each divisor.
  uint4 dividers[S::tiles][cuda_rows][cuda_tile];
  alignas(16)
      // The candidate of pixel k of the input for disparity d, at index (k - d) % ring.
      std::uint32_t right[cuda_rows][ring];
};

__device__ __forceinline__ std::uint32_t pair(std::uint32_t a, std::uint32_t b, std::uint32_t limits) {
  return __vminu2(__byte_perm(a, b, 0x5410), limits);
}

// Computes the costs of the disparities from `first` on, four pixels and four disparities at a time. Disparities after
// the last one have the largest cost, so that their sums are the largest and never win a tie.
template <class S>
__device__ __forceinline__ void make_costs(Costs<S>& costs, int first, const CudaCosts& c) {
  constexpr int side_by_side = 8, quads = S::input / 4;
  const std::uint32_t limits = c.truncation * 0x10001;
  for (int item = threadIdx.x / side_by_side; item < cuda_rows * cuda_slice / 4; item += S::threads / side_by_side) {
    const int d = item % (cuda_slice / 4) * 4, row = item / (cuda_slice / 4);
    const std::uint32_t* right = costs.right[row];
#pragma unroll
    for (int i = 0; i < quads / side_by_side; ++i) {
      const int k = (threadIdx.x % side_by_side + i * side_by_side) * 4, candidate = k - first - d;
      const uint4 l = *reinterpret_cast<const uint4*>(&costs.left[row][k]);
      const std::uint32_t left[] = {l.x, l.y, l.z, l.w};
      const uint4 a = *reinterpret_cast<const uint4*>(&right[candidate - 4 & Costs<S>::ring - 1]),
                  b = *reinterpret_cast<const uint4*>(&right[candidate & Costs<S>::ring - 1]);
      const std::uint32_t r[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
      std::uint32_t sad[4][4];
#pragma unroll
      for (int j = 0; j < 16; ++j) sad[j / 4][j % 4] = __vsadu4(left[j % 4], r[4 + j % 4 - j / 4]);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t four =
            __byte_perm(pair(sad[j][0], sad[j][1], limits), pair(sad[j][2], sad[j][3], limits), 0x6420);
        *reinterpret_cast<std::uint32_t*>(costs.row(row, d + j) + k) =
            first + d + j < c.disparities ? four : 0xFFFFFFFF;
      }
    }
  }
}

// Replicates the costs of pixels at the border. The pixels `begin` to `end` of the input lie in the image.
template <class S>
__device__ __forceinline__ void replicate_border(Costs<S>& costs, int begin, int end) {
  for (int item = threadIdx.x; item < cuda_rows * cuda_slice; item += S::threads) {
    std::uint8_t* row = costs.row(item / cuda_slice, item % cuda_slice);
    for (int k = 0; k < begin; ++k) row[k] = row[begin];
    for (int k = end; k < min(end + S::reach, S::input); ++k) row[k] = row[end - 1];
  }
}

// Processes rows y to y + 3 for a run of pixels. A cell of `volume` holds two disparities: four lower and four upper
// bytes for each. Rows are processed from the last to the first. The most recent weights are then still in the cache,
// and the vertical pass finds the most recent cells there.
template <class S>
__device__ void add_horizontally(const uint2* __restrict__ bands, const uint2* __restrict__ band_divisors,
                                 const Pixels& left, const Pixels& right, uint4* volume, const CudaCosts& c) {
  __shared__ Costs<S> costs;
  const int width = left.layout.width, group = gridDim.y - 1 - blockIdx.y, x0 = blockIdx.x * S::run,
            y0 = group * cuda_rows, last_row = left.layout.height - 1;
  const int tile = threadIdx.x / 32, lane = threadIdx.x % 32, slices = (c.disparities + cuda_slice - 1) / cuda_slice;
  const auto copy_candidate = [&](int row, int k) {
    copy_ahead<4>(&costs.right[row][k & Costs<S>::ring - 1],
                  right.at(x0 - S::reach - c.min_disparity + k, min(y0 + row, last_row)));
  };
  for (int i = threadIdx.x; i < cuda_rows * S::input; i += S::threads) {
    const int row = i / S::input, k = i % S::input;
    copy_ahead<4>(&costs.left[row][k], left.at(x0 - S::reach + k, min(y0 + row, last_row)));
    copy_candidate(row, k);
  }
  // Load the candidates of the next slice.
  const int own_row = threadIdx.x / cuda_slice, own = threadIdx.x % cuda_slice;
  if (own_row < cuda_rows) copy_candidate(own_row, own - cuda_slice);
  uint2 weights[cuda_rows][S::blocks];
  const int tiles = tiles_of(width), own_tile = min(x0 / cuda_tile + tile, tiles - 1);
  const auto place = [&](int row) { return static_cast<std::int64_t>(min(y0 + row, last_row)) * tiles + own_tile; };
#pragma unroll
  for (int row = 0; row < cuda_rows; ++row)
#pragma unroll
    for (int j = 0; j < S::blocks; ++j) weights[row][j] = __ldg(bands + (place(row) * S::blocks + j) * 32 + lane);
#pragma unroll
  for (int row = lane / cuda_tile; row < cuda_rows; row += 2) {
    const Divider divider(__ldg(band_divisors + place(row) * cuda_tile + lane % cuda_tile));
    costs.dividers[tile][row][lane % cuda_tile] = {divider.multiplier, 128 * divider.scale, divider.half, 0};
  }
  for (int slice = 0; slice < slices; ++slice) {
    wait_for_copies();
    __syncthreads();
    make_costs(costs, slice * cuda_slice, c);
    __syncthreads();
    const int begin = max(0, S::reach - x0), end = min(S::input, width - x0 + S::reach);
    if (begin > 0 || end < S::input) {
      replicate_border(costs, begin, end);
      __syncthreads();
    }
    if (own_row < cuda_rows) copy_candidate(own_row, own - (slice + 2) * cuda_slice);
    const int x = x0 + tile * cuda_tile + lane / 4;
    uint4* out =
        volume + ((static_cast<std::int64_t>(group) * slices + slice) * width + x) * (cuda_slice / 2) + lane % 4;
#pragma unroll
    for (int n = 0; n < cuda_slice / 8; ++n) {
      Sums sums[cuda_rows] = {};
#pragma unroll
      for (int row = 0; row < cuda_rows; ++row) {
        const std::uint8_t* cells = costs.row(row, 8 * n + lane % 8) + tile * cuda_tile;
#pragma unroll
        for (int j = 0; j + 1 < S::blocks; j += 2) {
          const uint2 b = load_two(cells + 16 * j + 16 * (lane / 8 % 2));
          sums[row] = multiply(weights[row][j], weights[row][j + 1], b.x, b.y, sums[row]);
        }
        sums[row] = multiply(weights[row][S::blocks - 1], load_one(cells + 16 * (S::blocks - 1)), sums[row]);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint4 dividers[cuda_rows];
#pragma unroll
        for (int row = 0; row < cuda_rows; ++row) dividers[row] = costs.dividers[tile][row][lane / 4 + 8 * half];
        std::uint32_t packed[4];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          std::uint32_t v[cuda_rows];
#pragma unroll
          for (int row = 0; row < cuda_rows; ++row)
            v[row] = __umulhi(sums[row].of[2 * half + e] * dividers[row].y + dividers[row].z, dividers[row].x);
          const std::uint32_t a = __byte_perm(v[0], v[1], 0x7362), b = __byte_perm(v[2], v[3], 0x7362);
          packed[2 * e] = __byte_perm(a, b, 0x5410);
          packed[2 * e + 1] = __byte_perm(a, b, 0x7632);
        }
        if (x + 8 * half < width)
          out[8 * half * (cuda_slice / 2) + 4 * n] = {packed[0], packed[1], packed[2], packed[3]};
      }
    }
  }
}

// ---- the vertical pass and the selection ----

// The input of one step of the vertical pass, loaded asynchronously.
template <int blocks>
struct Step {
  uint4 cells[2][32];  // 16 more rows
  uint2 weights[blocks][32];
  uint2 divisors[cuda_tile];
};

template <int blocks>
__device__ void add_vertically(const uint2* __restrict__ bands, const uint2* __restrict__ divisors,
                               const uint4* __restrict__ volume, float* disparity, Layout layout,
                               std::uint8_t* validity, Layout validity_layout, const CudaVertical& s) {
  constexpr int half_blocks = blocks / 2;
  __shared__ Step<blocks> steps[cuda_warps][2];
  __shared__ std::uint32_t winners[cuda_most_tiles * cuda_tile];  // winners, column by column
  for (int i = threadIdx.x; i < s.columns * s.tiles * cuda_tile; i += blockDim.x) winners[i] = 0xFFFFFFFF;
  __syncthreads();

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, column = warp % s.columns,
            warps = blockDim.x / 32 / s.columns;
  const int x = min(blockIdx.x * s.columns + column, s.width - 1), groups = (s.height + cuda_rows - 1) / cuda_rows;
  const int all_tiles = tiles_of(s.height), first = blockIdx.y * s.tiles, end = min(first + s.tiles, all_tiles);
  for (int slice = warp / s.columns; slice < s.slices; slice += warps) {
    const auto cells_of = [&](int block) {
      const int group = min(max(4 * block + lane % 4, 0), groups - 1);
      return volume + ((static_cast<std::int64_t>(group) * s.slices + slice) * s.width + x) * (cuda_slice / 2) +
             lane / 4;
    };
    const auto settle = [&](uint4(&cells)[2], int block) {
      if (block >= 0 && 4 * block + 3 < groups) return;
      const int group = 4 * block + lane % 4, order = group < 0        ? 0
                                                      : group < groups ? 0x3210
                                                                       : 0x3333;  // repeat the row at the border
      for (uint4& v : cells)
        v = {__byte_perm(v.x, 0, order), __byte_perm(v.y, 0, order), __byte_perm(v.z, 0, order),
             __byte_perm(v.w, 0, order)};
    };
    const auto fetch = [&](int tile) {
      Step<blocks>& step = steps[warp][tile % 2];
      const uint4* cells = cells_of(tile + half_blocks);
      const std::int64_t place = static_cast<std::int64_t>(min(tile, all_tiles - 1)) * s.width + x;
      copy_ahead<16>(&step.cells[0][lane], cells);
      copy_ahead<16>(&step.cells[1][lane], cells + 8);
#pragma unroll
      for (int j = 0; j < blocks; ++j) copy_ahead<8>(&step.weights[j][lane], bands + (place * blocks + j) * 32 + lane);
      if (lane < cuda_tile) copy_ahead<8>(&step.divisors[lane], divisors + place * cuda_tile + lane);
      asm volatile("cp.async.commit_group;");
    };
    wait_for_copies();  // wait for the previous slice
    __syncwarp();
    fetch(first);
    fetch(first + 1);
    uint4 cells[blocks][2];
#pragma unroll
    for (int j = 0; j + 1 < blocks; ++j)
      for (int i = 0; i < 2; ++i) cells[j][i] = __ldg(cells_of(first - half_blocks + j) + 8 * i);
#pragma unroll
    for (int j = 0; j + 1 < blocks; ++j) settle(cells[j], first - half_blocks + j);
    for (int start = first; start < end; start += blocks)
#pragma unroll
      for (int u = 0; u < blocks; ++u) {
        const int tile = start + u;
        if (tile >= end) break;
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncwarp();
        const Step<blocks>& step = steps[warp][tile % 2];
        uint4(&newest)[2] = cells[(u + blocks - 1) % blocks];
        for (int i = 0; i < 2; ++i) newest[i] = step.cells[i][lane];
        settle(newest, tile + half_blocks);
        uint2 weights[blocks];
#pragma unroll
        for (int j = 0; j < blocks; ++j) weights[j] = step.weights[j][lane];
        const Divider dividers[] = {Divider(step.divisors[lane / 4]), Divider(step.divisors[lane / 4 + 8])};
        __syncwarp();
        fetch(tile + 2);
        const std::uint32_t upper_half = opaque(0xFFFF0000);
        std::uint32_t best[2] = {0xFFFFFFFF, 0xFFFFFFFF};
#pragma unroll
        for (int n = 0; n < cuda_slice / 8; ++n) {
          // Column i of the product belongs to the disparities 16 (n / 2) + 2 i + n % 2.
          const auto bytes = [&](int block, bool upper) {
            const uint4 v = cells[(u + block) % blocks][n / 2];
            return n % 2 == 0 ? (upper ? v.y : v.x) : (upper ? v.w : v.z);
          };
          Sums lower = {}, upper = {};
#pragma unroll
          for (int j = 0; j + 1 < blocks; j += 2) {
            lower = multiply(weights[j], weights[j + 1], bytes(j, false), bytes(j + 1, false), lower);
            upper = multiply(weights[j], weights[j + 1], bytes(j, true), bytes(j + 1, true), upper);
          }
          lower = multiply(weights[blocks - 1], bytes(blocks - 1, false), lower);
          upper = multiply(weights[blocks - 1], bytes(blocks - 1, true), upper);
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const Divider& divider = dividers[i / 2];
            const std::uint32_t sum =
                upper.of[i] * (256 * divider.scale) + (lower.of[i] * divider.scale + divider.half);
            const std::uint32_t index = n / 2 * 16 + i % 2 * 2 + n % 2;
            best[i / 2] = min(best[i / 2], (__umulhi(sum, divider.multiplier) & upper_half) | index);
          }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          best[half] += slice * cuda_slice + lane % 4 * 4;
          best[half] = min(best[half], __shfl_xor_sync(0xFFFFFFFF, best[half], 1));
          best[half] = min(best[half], __shfl_xor_sync(0xFFFFFFFF, best[half], 2));
        }
        if (lane % 4 < 2)
          atomicMin(&winners[(column * s.tiles + tile - first) * cuda_tile + lane / 4 + lane % 4 * 8],
                    lane % 4 == 0 ? best[0] : best[1]);
      }
  }
  __syncthreads();
  const int rows = min(end * cuda_tile, s.height) - first * cuda_tile,
            columns = min(s.columns, s.width - static_cast<int>(blockIdx.x) * s.columns);
  for (int i = threadIdx.x; i < rows * s.columns; i += blockDim.x) {
    const int row = i / s.columns, nth = i % s.columns;
    if (nth >= columns) continue;
    const std::int64_t out_x = blockIdx.x * s.columns + nth, out_y = first * cuda_tile + row;
    disparity[layout.offset + out_y * layout.pitch + out_x] =
        static_cast<float>(s.min_disparity + static_cast<int>(winners[nth * s.tiles * cuda_tile + row] & 0xFFFF));
    validity[validity_layout.offset + out_y * validity_layout.pitch + out_x] = 0;
  }
}

}  // namespace

extern "C" {

#define STEREOPSIS_PASSES(blocks)                                                                                     \
  __global__ void __launch_bounds__(cuda_weight_threads, weight_blocks) weights_##blocks(                             \
      const std::uint32_t* lab, Layout lab_layout, uint2* down, std::int64_t down_offset, uint2* down_divisors,       \
      std::int64_t down_divisors_offset, uint2* across, std::int64_t across_offset, uint2* across_divisors,           \
      std::int64_t across_divisors_offset, int runs_down, const CudaWeights w) {                                      \
    __shared__ Weights<Shape<blocks>> weights;                                                                        \
    const int run = blockIdx.x;                                                                                       \
    if (run < runs_down)                                                                                              \
      make_bands(weights, {lab, lab_layout}, true, run, down + down_offset, down_divisors + down_divisors_offset, w); \
    else                                                                                                              \
      make_bands(weights, {lab, lab_layout}, false, run - runs_down, across + across_offset,                          \
                 across_divisors + across_divisors_offset, w);                                                        \
  }                                                                                                                   \
  __global__ void __launch_bounds__(Shape<blocks>::threads, horizontal_blocks<blocks>) horizontal_##blocks(            \
      const uint2* bands, std::int64_t bands_offset, const uint2* divisors, std::int64_t divisors_offset,             \
      const std::uint32_t* left, Layout left_layout, const std::uint32_t* right, Layout right_layout, uint4* volume,  \
      std::int64_t volume_offset, const CudaCosts c) {                                                                \
    add_horizontally<Shape<blocks>>(bands + bands_offset, divisors + divisors_offset, {left, left_layout},            \
                                    {right, right_layout}, volume + volume_offset, c);                                \
  }                                                                                                                   \
  __global__ void __launch_bounds__(32 * cuda_warps, vertical_blocks<blocks>) vertical_##blocks(                      \
      const uint2* bands, std::int64_t bands_offset, const uint2* divisors, std::int64_t divisors_offset,             \
      const uint4* volume, std::int64_t volume_offset, float* disparity, Layout layout, std::uint8_t* validity,       \
      Layout validity_layout, const CudaVertical s) {                                                                 \
    add_vertically<blocks>(bands + bands_offset, divisors + divisors_offset, volume + volume_offset, disparity,       \
                           layout, validity, validity_layout, s);                                                     \
  }
STEREOPSIS_PASSES(3)
STEREOPSIS_PASSES(5)
}
