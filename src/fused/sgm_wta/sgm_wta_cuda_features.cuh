// Kernels that run before and after the path passes. The kernels compute features (in the order in which the lanes read
// features), costs as bytes, the penalties of the adaptive P2, and the disparity of the right view.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_costs.cuh"

namespace stereopsis::sgm_wta {

// Row i of an image, counted with the row margins.
struct RowOfMargins {
  int y, source;
  __device__ __forceinline__ explicit RowOfMargins(const Problem& p, u32 i)
      : y((int)i - row_margin), source(min(max(y, 0), p.height - 1)) {}
};

// Clears the right winners before the first one is written.
__device__ __forceinline__ void clear_right_best(const Problem& p, int x, int y) {
  if (p.right_best != nullptr && (u32)x < (u32)p.width && (u32)y < (u32)p.height)
    p.right_best[(i64)y * p.width + x] = ~0u;
}

// Clears the counters before a warp uses them. Each row, including the margins, clears one counter. There are fewer
// counters than rows.
__device__ __forceinline__ void clear_progress(const Problem& p, int x, int y) {
  if (x == 0 && y + row_margin < p.counters) p.progress[y + row_margin] = 0;
}

// Blocks cover the rows and the columns. A thread processes several columns, at distances of the block's width. Columns
// outside the image repeat the edge of the image.
template <class T>
__device__ __forceinline__ void lay_out_rank(const Problem& p, int slopes) {
  const RowOfMargins row(p, blockIdx.x);
  const u8* left = static_cast<const u8*>(p.left_words) + row.source * p.left_words_pitch;
  const u8* right = static_cast<const u8*>(p.right_words) + row.source * p.right_words_pitch;
  const int first = blockIdx.y * feature_threads * feature_columns + threadIdx.x;
  u32 pairs[feature_columns];
  u8 lefts[feature_columns];
#pragma unroll
  for (int k = 0; k < feature_columns; ++k) {
    const int i = first + k * feature_threads, x = i - T::right_margin_of_zero - p.min_disparity;
    pairs[k] = right[clamp_column(p, x)] | (u32)right[clamp_column(p, x - T::half)] << 16;
    lefts[k] = left[clamp_column(p, i - left_margin)];
  }
#pragma unroll
  for (int k = 0; k < feature_columns; ++k) {
    const int i = first + k * feature_threads;
    clear_right_best(p, i, row.y);
    clear_progress(p, i, row.y);
    for (int s = 0; s < slopes; ++s) {
      if (i >= p.pitch[s]) continue;
      if (p.right[s] != nullptr) p.right[s][(i64)row.y * p.pitch[s] + i] = pairs[k];
      p.left[s][(i64)row.y * p.pitch[s] + i] = lefts[k];
    }
  }
}

// ---- volume of costs -------------------------------------------------------------------------------------------- The
// supported matching costs of stages/cost. Each class defines the bits of a word that the Hamming distance compares,
// and converts two distances to costs. The two distances, in the low bytes of a word, compare a left pixel with two
// right pixels: at a low disparity, and at one that is half a range higher.
template <class Bits>
struct Census {
  using Word = Bits;
  __device__ __forceinline__ static Word bits(Word word) { return word; }
  __device__ __forceinline__ static u32 costs(const Problem&, u32 distances, Word, Word, Word) { return distances; }
};
using Census32 = Census<u32>;
using Census64 = Census<u64>;
struct CensusGradient {
  using Word = u32;
  __device__ __forceinline__ static Word bits(Word word) { return word & 0xffffff; }
  __device__ __forceinline__ static u32 costs(const Problem& p, u32 distances, Word left, Word low, Word high) {
    const u32 right = low >> 24 | high >> 24 << 16;
    const u32 gradients = __vminu2(__vabsdiffu4(byte_of(left, 3), right), both(p.gradient_limit));
    return distances * p.census_weight + __byte_perm(gradients, 0, 0x4420);
  }
};

// Hamming distances are computed as a matrix product. The left bits are signs l = ±1 (−1 if the bit is set), and the
// right bits r are 0 or 1, so that popc(left ^ right) = popc(left) + l · r. Both operands list the bits in the same
// order. Lane t of four has bits 2 t and 2 t + 1 of each byte, as bytes.
template <class Word>
struct Bits {
  static constexpr int parts = sizeof(Word) / 4;
  static constexpr u32 in_every_byte = 0x01010101;
  u32 part[parts][2];
  __device__ __forceinline__ Bits(Word word, int t) {
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      const u32 mine = (u32)(word >> 16 * i >> 16 * i) >> 2 * t;
      part[i][0] = mine & in_every_byte;
      part[i][1] = mine >> 1 & in_every_byte;
    }
  }
  __device__ __forceinline__ void to_signs() {
#pragma unroll
    for (auto& bytes : part)
      for (u32& b : bytes) b = b * 0xfe + in_every_byte;
  }
};

// 16 left pixels, of which each set of four lanes has the same two, and their products with eight right pixels. Sum i
// belongs to pixel i / 2 and column 2 t + i % 2.
template <class Word>
struct LeftBits {
  Bits<Word> pixel[2];
  u32 ones[4];  // population counts of pixel i / 2, for two bytes

  __device__ __forceinline__ LeftBits(Word a, Word b, int t) : pixel{Bits<Word>(a, t), Bits<Word>(b, t)} {
    pixel[0].to_signs();
    pixel[1].to_signs();
#pragma unroll
    for (int i = 0; i < 4; ++i) ones[i] = kept(__popcll(i < 2 ? a : b) * 0x101);
  }
  __device__ __forceinline__ void multiply(u32 (&sum)[4], const u32 (&start)[4], const Bits<Word>& right) const {
    multiply_add(sum, start, 0, right);
#pragma unroll
    for (int i = 1; i < Bits<Word>::parts; ++i) multiply_add(sum, sum, i, right);
  }
  __device__ __forceinline__ void multiply_add(u32 (&sum)[4], const u32 (&addend)[4], int i,
                                               const Bits<Word>& right) const {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
        : "r"(pixel[0].part[i][0]), "r"(pixel[1].part[i][0]), "r"(pixel[0].part[i][1]), "r"(pixel[1].part[i][1]),
          "r"(right.part[i][0]), "r"(right.part[i][1]), "r"(addend[0]), "r"(addend[1]), "r"(addend[2]), "r"(addend[3]));
  }
};

// Computes the costs of 32 columns per warp. For each right pixel, these are the costs at d = e < half, and at e +
// half. The two costs are neighbours in the order of the lanes (bytes 2 e and 2 e + 1). `right` begins at the pixel
// that column 0 has at d = range.
template <class T, class Kind, int kPitch>
__device__ __forceinline__ void multiply_costs(const Problem& p, u8* costs, const typename Kind::Word (&left)[4],
                                               const typename Kind::Word* right) {
  using Word = typename Kind::Word;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const LeftBits<Word> pixels[2] = {{Kind::bits(left[0]), Kind::bits(left[1]), t},
                                    {Kind::bits(left[2]), Kind::bits(left[3]), t}};
  right += T::half;
  // Columns 2 t and 2 t + 1 of a product are the right pixels t and t + 4, so that the stores of a warp rarely have
  // bank conflicts.
  const int e_0 = g + T::half - t;
  const u32 to_0 = kept((u32)__cvta_generic_to_shared(costs + g * kPitch + 2 * e_0));
  // Number of tiles that combine with 16 columns; the next 16 columns begin two tiles later.
  constexpr int tiles = T::half / 8 + 2, unrolled = T::range <= 256 ? tiles + 2 : 4;
#pragma unroll unrolled
  for (int j = 0; j < tiles + 2; ++j) {
    const Word* const low = right + 8 * j;
    const Word* const high = low - T::half;
    const int mine = g / 2 + g % 2 * 4;
    const Bits<Word> low_bits(Kind::bits(low[mine]), t), high_bits(Kind::bits(high[mine]), t);
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      if (j < 2 * m || j >= tiles + 2 * m) continue;
      u32 low_sum[4], high_sum[4];
      pixels[m].multiply(low_sum, pixels[m].ones, low_bits);
      pixels[m].multiply(high_sum, {}, high_bits);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = 16 * m + i / 2 * 8, back = 8 * j + i % 2 * 4;
        if ((u32)(e_0 + column - back) >= (u32)T::half) continue;
        const u32 pair = Kind::costs(p, low_sum[i] + high_sum[i] * 0x100, left[2 * m + i / 2], low[t + i % 2 * 4],
                                     high[t + i % 2 * 4]);
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(to_0 + column * (kPitch + 2) - 2 * back), "h"((short)pair)
                     : "memory");
      }
    }
  }
}

// ---- copies to the volume: a thread always processes the same 16 disparities of a lane ----
template <class T>
constexpr int volume_pitch = T::range + 16;  // pitch of a column in shared memory

// Reads costs from shared memory in the order of the lanes.
template <class T>
struct MadeCosts {
  const u8* costs;
  __device__ __forceinline__ uint4 sixteen(int x, int piece) const {
    return *reinterpret_cast<const uint4*>(costs + x * volume_pitch<T> + piece * 16);
  }
};
// Writes costs as bytes, with 255 after the last disparity of the search range.
template <class T, class Costs>
__device__ __forceinline__ void write_bytes(const Problem& p, const Costs& costs, int x0, int y) {
  constexpr int pieces = T::range / 16, at_once = pieces < volume_threads<T> ? pieces : volume_threads<T>;
#pragma unroll
  for (int piece = threadIdx.x % at_once; piece < pieces; piece += at_once) {
    u32 pad[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int d = piece * 8 + 2 * k;
      const auto padding = [&](int disparity) -> u32 { return disparity < p.disparities ? 0 : 0xff; };
      pad[k] = padding(d) | padding(d + T::half) << 8 | padding(d + 1) << 16 | padding(d + 1 + T::half) << 24;
    }
    uint4* to = reinterpret_cast<uint4*>(p.volume + ((i64)y * p.width + x0) * T::range) + piece;
    for (int x = threadIdx.x / at_once; x < min(volume_columns<T>, p.width - x0); x += volume_threads<T> / at_once) {
      const uint4 v = costs.sixteen(x, piece);
      to[x * pieces] = make_uint4(v.x | pad[0], v.y | pad[1], v.z | pad[2], v.w | pad[3]);
    }
  }
}
// Writes six bits per cost. The search range must fill the range of the kernel.
template <class T, class Costs>
__device__ __forceinline__ void write_six_bits(const Problem& p, const Costs& costs, int x0, int y) {
  constexpr int pieces = T::range / 16, at_once = pieces < volume_threads<T> ? pieces : volume_threads<T>;
  constexpr int step = volume_threads<T> / at_once * 4;
  u8* const row = p.volume + y * six_bit_row<T>(p) + x0 / 4 * quad_bytes<T>;
#pragma unroll
  for (int piece = threadIdx.x % at_once; piece < pieces; piece += at_once) {
    for (int x = threadIdx.x / at_once * 4; x < min(volume_columns<T>, p.width - x0); x += step) {
      SixBits v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint4 bytes = costs.sixteen(x + i, piece);
        v[i] = SixBits::of({bytes.x, bytes.y, bytes.z, bytes.w});
      }
      uint4* const to = reinterpret_cast<uint4*>(row + x / 4 * quad_bytes<T>) + piece;
      to[0] = make_uint4(v[0].a, v[0].b, v[1].a, v[1].b);
      to[pieces] = make_uint4(v[2].a, v[2].b, v[3].a, v[3].b);
      to[2 * pieces] = make_uint4(v[0].c, v[1].c, v[2].c, v[3].c);
    }
  }
}

template <class T, class Kind, bool kSixBits = false>
__device__ __forceinline__ void fill_volume(const Problem& p) {
  using Word = typename Kind::Word;
  constexpr int width = volume_columns<T> + T::range, pitch = volume_pitch<T>;
  __shared__ Word right[width];  // begins at column x0 − min_disparity − range
  __shared__ alignas(16) u8 costs[volume_columns<T> * pitch];
  // Blocks are ordered row by row, so that concurrent writes are adjacent (0.48 instead of 0.54 ms for 2880 × 1980 ×
  // 256 on an H100).
  const u32 blocks_a_row = (p.width + volume_columns<T> - 1) / volume_columns<T>;
  const RowOfMargins row(p, blockIdx.x / blocks_a_row);
  const int x0 = blockIdx.x % blocks_a_row * volume_columns<T>, mine = threadIdx.x / 32 * 32;
  const Word* left_row = static_cast<const Word*>(p.left_words) + row.source * p.left_words_pitch;
  const Word* right_row = static_cast<const Word*>(p.right_words) + row.source * p.right_words_pitch;
  clear_right_best(p, x0 + (int)threadIdx.x, row.y);
  clear_progress(p, x0 + (int)threadIdx.x, row.y);
  Word left[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) left[i] = left_row[clamp_column(p, x0 + mine + threadIdx.x % 32 / 4 + 8 * i)];
  for (int i = threadIdx.x; i < width; i += volume_threads<T>)
    right[i] = right_row[clamp_column(p, x0 - p.min_disparity - T::range + i)];
  __syncthreads();
  multiply_costs<T, Kind, pitch>(p, costs + mine * pitch, left, right + mine);
  __syncthreads();
  if constexpr (kSixBits)
    write_six_bits<T>(p, MadeCosts<T>{costs}, x0, row.y);
  else
    write_bytes<T>(p, MadeCosts<T>{costs}, x0, row.y);
}

// The costs of a row from column x0 on, read from a volume with the lowest disparity first. Columns outside the image
// repeat the last column.
template <class T>
struct GivenCosts {
  const Problem& p;
  const u8* row;
  int x0;
  bool whole;  // true if the disparities fill the range and form groups of eight

  __device__ __forceinline__ GivenCosts(const Problem& problem, int y, int first_column)
      : p(problem),
        row(static_cast<const u8*>(p.left_words) + y * p.left_words_pitch),
        x0(first_column),
        whole(p.disparities == T::range && reinterpret_cast<u64>(row) % 8 == 0) {}

  // Loads eight disparities from piece · 8 on, and eight that are half a range higher, alternating.
  __device__ __forceinline__ uint4 sixteen(int x, int piece) const {
    const u8* costs = row + (i64)clamp_column(p, x0 + x) * p.disparities + piece * 8;
    const uint2 low = eight(costs, piece * 8), high = eight(costs + T::half, piece * 8 + T::half);
    return make_uint4(__byte_perm(low.x, high.x, 0x5140), __byte_perm(low.x, high.x, 0x7362),
                      __byte_perm(low.y, high.y, 0x5140), __byte_perm(low.y, high.y, 0x7362));
  }
  __device__ __forceinline__ uint2 eight(const u8* costs, int d) const {
    uint2 v = make_uint2(0, 0);
    if (whole) {
      v = *reinterpret_cast<const uint2*>(costs);
    } else {
      for (int i = 0; i < 8; ++i) {
        const u32 c = d + i < p.disparities ? costs[i] : 0;
        (i < 4 ? v.x : v.y) |= c << 8 * (i % 4);
      }
    }
    const u32 most = p.most_cost * 0x01010101u;
    return make_uint2(__vminu4(v.x, most), __vminu4(v.y, most));
  }
};

// Converts a given cost volume to the order of the lanes.
template <class T, bool kSixBits = false>
__device__ __forceinline__ void order_given_costs(const Problem& p) {
  const u32 blocks_a_row = (p.width + volume_columns<T> - 1) / volume_columns<T>;
  const RowOfMargins row(p, blockIdx.x / blocks_a_row);
  const int x0 = blockIdx.x % blocks_a_row * volume_columns<T>;
  clear_right_best(p, x0 + (int)threadIdx.x, row.y);
  clear_progress(p, x0 + (int)threadIdx.x, row.y);
  const GivenCosts<T> costs(p, row.source, x0);
  if constexpr (kSixBits)
    write_six_bits<T>(p, costs, x0, row.y);
  else
    write_bytes<T>(p, costs, x0, row.y);
}

// Computes P2 for each pixel and path, for the step into the pixel. The value of a path without a previous pixel is not
// used.
__device__ __forceinline__ void fill_penalties(const Problem& p, const PenaltyTable& table) {
  __shared__ u8 p2[256];
  p2[threadIdx.x] = table.p2[threadIdx.x];
  __syncthreads();
  const int y = blockIdx.x;
  const auto grey = [&](int column, int row) -> int {
    const int clamped = min(max(row, -p.guide_above), p.height - 1 + p.guide_below);
    return p.guide[clamped * p.guide_pitch + clamp_column(p, column)];
  };
  for (int i = threadIdx.x; i < p.penalty_pitch; i += blockDim.x) {
    const int x = clamp_column(p, i - left_margin), here = grey(x, y);
    for (int up = 0; up < 2; ++up) {
      const int sense = up ? -1 : 1;
      const auto entering = [&](int dx, int dy) -> u32 { return p2[abs(here - grey(x - dx, y - dy))]; };
      p.penalties[up * p.penalty_plane + (i64)y * p.penalty_pitch + i] =
          entering(0, sense) << 8 * penalty_byte(0) | entering(1, sense) << 8 * penalty_byte(1) |
          entering(-1, sense) << 8 * penalty_byte(-1) | entering(sense, 0) << 8 * penalty_byte_along_row;
    }
  }
}

// Each thread processes several columns, at distances of the block's width.
__device__ __forceinline__ void write_right(const Problem& p) {
  const int y = blockIdx.x, x0 = blockIdx.y * blockDim.x * right_columns + threadIdx.x;
  u32 best[right_columns];
#pragma unroll
  for (int i = 0; i < right_columns; ++i)
    best[i] = p.right_best[(i64)y * p.width + min(x0 + i * (int)blockDim.x, p.width - 1)];
#pragma unroll
  for (int i = 0; i < right_columns; ++i) {
    const int x = x0 + i * blockDim.x;
    if (x >= p.width) return;
    const bool usable = p.mask_right == nullptr || p.mask_right[y * p.mask_right_pitch + x] != 0;
    p.right_disparity[y * p.right_disparity_pitch + x] =
        usable && best[i] != ~0u ? (float)((int)(best[i] & 0xffff) + p.min_disparity) : __int_as_float(0x7fc00000);
  }
}

}  // namespace stereopsis::sgm_wta
