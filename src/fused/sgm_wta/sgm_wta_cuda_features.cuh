// Before and after the path passes: features in the order that the lanes read them, costs as bytes, the penalties of
// the adaptive P2, and the right view's disparity.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

// Of an image with its row margins, of which the grid has a block each.
struct RowOfMargins {
  int y, source;
  __device__ __forceinline__ explicit RowOfMargins(const Problem& p)
      : y((int)blockIdx.x - row_margin), source(min(max(y, 0), p.height - 1)) {}
};

// Blocks for each row, and for its columns. Those beyond the image repeat its edge.
template <class T>
__device__ __forceinline__ void lay_out_rank(const Problem& p, int slopes) {
  const RowOfMargins row(p);
  const u8* left = static_cast<const u8*>(p.left_words) + row.source * p.left_words_pitch;
  const u8* right = static_cast<const u8*>(p.right_words) + row.source * p.right_words_pitch;
  const int i = blockIdx.y * blockDim.x + threadIdx.x;
  if (i >= T::right_margin_of_zero + p.width + right_margin) return;
  const int x = i - T::right_margin_of_zero - p.min_disparity;
  const u32 pair = right[clamp_column(p, x)] | (u32)right[clamp_column(p, x - T::half)] << 16;
  const u8 l = left[clamp_column(p, i - left_margin)];
  for (int s = 0; s < slopes; ++s) {
    p.right[s][(i64)row.y * p.pitch[s] + i] = pair;
    if (i < left_margin + p.width + right_margin) p.left[s][(i64)row.y * p.pitch[s] + i] = l;
  }
}

// The kinds of stages/cost: four costs of a left word, in the bytes of a word.
template <class Distance>
__device__ __forceinline__ u32 four_bytes(const Distance& distance) {
  return distance(0) + distance(1) * 0x100u + distance(2) * 0x10000u + distance(3) * 0x1000000u;
}
struct Census32 {
  using Word = u32;
  __device__ __forceinline__ static u32 costs(const Problem&, Word l, const Word (&r)[4]) {
    return four_bytes([&](int i) -> u32 { return __popc(l ^ r[i]); });
  }
};
struct Census64 {
  using Word = u64;
  __device__ __forceinline__ static u32 costs(const Problem&, Word l, const Word (&r)[4]) {
    return four_bytes([&](int i) -> u32 { return __popcll(l ^ r[i]); });
  }
};
struct CensusGradient {
  using Word = u32;
  __device__ __forceinline__ static u32 costs(const Problem& p, Word l, const Word (&r)[4]) {
    const u32 hamming = four_bytes([&](int i) -> u32 { return __popc((l ^ r[i]) & 0xffffff); });
    const u32 gradients = __byte_perm(__byte_perm(r[0], r[1], 0x0073), __byte_perm(r[2], r[3], 0x0073), 0x5410);
    const u32 difference = __vabsdiffu4(byte_of(l, 3) * 0x101, gradients), limit = both(p.gradient_limit);
    const u32 even = __vminu2(difference & 0x00ff00ff, limit), odd = __vminu2(difference >> 8 & 0x00ff00ff, limit);
    return hamming * p.census_weight + even + odd * 0x100;
  }
};

// Costs as bytes in the order of the lanes, 255 beyond the searched disparities. A thread makes the four bytes of two
// neighbouring words.
template <class T, class Kind>
__device__ __forceinline__ void fill_volume(const Problem& p) {
  using Word = typename Kind::Word;
  __shared__ Word right[volume_columns + T::range];  // from x0 − min_disparity − (range − 1)
  const RowOfMargins row(p);
  const int x0 = blockIdx.y * volume_columns;
  const Word* left_row = static_cast<const Word*>(p.left_words) + row.source * p.left_words_pitch;
  const Word* right_row = static_cast<const Word*>(p.right_words) + row.source * p.right_words_pitch;
  for (int i = threadIdx.x; i < volume_columns + T::range; i += volume_threads)
    right[i] = right_row[clamp_column(p, x0 - p.min_disparity - (T::range - 1) + i)];
  __syncthreads();
  // A thread stays with its disparities: d and d + 1, and half beyond each.
  constexpr int words_out = T::range / 4;
  const int w = threadIdx.x % words_out, d = w / 4 * words + w % 4 * 2;
  const auto padding = [&](int k) -> u32 { return k < p.disparities ? 0 : 0xff; };
  const u32 pad = padding(d) | padding(d + T::half) << 8 | padding(d + 1) << 16 | padding(d + 1 + T::half) << 24;
  u32* out = reinterpret_cast<u32*>(p.volume + ((i64)row.y * p.width + x0) * T::range) + w;
  for (int x = threadIdx.x / words_out; x < min(volume_columns, p.width - x0); x += volume_threads / words_out) {
    const Word* r = right + x + T::range - 1 - d;
    out[x * words_out] = pad | Kind::costs(p, left_row[x0 + x], {r[0], r[-T::half], r[-1], r[-1 - T::half]});
  }
}

// P2 on entering each pixel along every path. What a path without a pixel before gets has no effect.
__device__ __forceinline__ void fill_penalties(const Problem& p, const PenaltyTable& table) {
  __shared__ u8 p2[256];
  p2[threadIdx.x] = table.p2[threadIdx.x];
  __syncthreads();
  const int y = blockIdx.x;
  const auto grey = [&](int column, int row) -> int {
    return p.guide[min(max(row, 0), p.height - 1) * p.guide_pitch + clamp_column(p, column)];
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

__device__ __forceinline__ void write_right(const Problem& p) {
  const int y = blockIdx.x, x = blockIdx.y * blockDim.x + threadIdx.x;
  if (x >= p.width) return;
  const u32 best = p.right_best[(i64)y * p.width + x];
  const bool usable = p.mask_right == nullptr || p.mask_right[y * p.mask_right_pitch + x] != 0;
  p.right_disparity[y * p.right_disparity_pitch + x] =
      usable && best != ~0u ? (float)((int)(best & 0xffff) + p.min_disparity) : __int_as_float(0x7fc00000);
}

}  // namespace stereopsis::sgm_wta
