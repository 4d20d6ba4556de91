// Census transform of 8-bit images. A thread walks down two parts of a column, one below the other. The thread keeps
// both windows in registers, as half-precision floats. The difference of two intensities, saturated to [0, 1], is one
// bit. Doubling the previous bits and adding the new bit takes one product and one sum, which half floats below 2048
// represent exactly.
#include <cuda_fp16.h>

#include "device/cuda/words.cuh"
#include "stages/census/census_cuda_problem.hpp"

namespace stereopsis::census {
namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int block_columns = tuning.block_columns, high_piece = tuning.high_piece, low_piece = tuning.low_piece;
constexpr int margin = 8;  // number of columns on each side of the block's columns, a whole number of words
constexpr int tile_words = (block_columns + 2 * margin) / 4, tile_width = 4 * tile_words;

__device__ __forceinline__ u32 bits_of(__half2 halves) { return *reinterpret_cast<const u32*>(&halves); }

__device__ __forceinline__ u32 four_pixels(const u8* row, int x, int width) {
  if (x >= 0 && x + 4 <= width && (reinterpret_cast<std::uintptr_t>(row + x) & 3) == 0)
    return *reinterpret_cast<const u32*>(row + x);
  u32 pixels = 0;
  for (int i = 0; i < 4; ++i) pixels |= (u32)row[min(max(x + i, 0), width - 1)] << 8 * i;
  return pixels;
}

// Stores two intensities v as 1024 + v, which have the same differences.
__device__ __forceinline__ void fill(const Problem& p, int view, int x_of_block, int piece_rows, int above, int lines,
                                     __half2 (*tile)[tile_width]) {
  constexpr u32 exponents = 0x64646464;
  const u8* const grey = p.grey[view];
  const std::int64_t pitch = p.grey_pitch[view];
  const int x0 = x_of_block - margin, y0 = blockIdx.y * 2 * piece_rows - above;
  for (int i = threadIdx.x; i < lines * tile_words; i += block_columns) {
    const int line = i / tile_words, column = 4 * (i % tile_words);
    const auto pixels = [&](int y) {
      return four_pixels(grey + min(max(y, 0), p.height - 1) * pitch, x0 + column, p.width);
    };
    const u32 upper = pixels(y0 + line), lower = pixels(y0 + line + piece_rows);
    const u32 first = __byte_perm(upper, lower, 0x5140), second = __byte_perm(upper, lower, 0x7362);
    *reinterpret_cast<uint4*>(&tile[line][column]) = {
        __byte_perm(first, exponents, 0x4140), __byte_perm(first, exponents, 0x4342),
        __byte_perm(second, exponents, 0x4140), __byte_perm(second, exponents, 0x4342)};
  }
}

template <int kPieces>
__device__ __forceinline__ void store(void* words, std::int64_t place, const u32 (&word)[kPieces]) {
  if constexpr (kPieces == 1)
    static_cast<u32*>(words)[place] = word[0];
  else if constexpr (kPieces == 2)
    static_cast<uint2*>(words)[place] = {word[0], word[1]};
  else
    static_cast<uint4*>(words)[place] = {word[0], word[1], word[2], word[3]};
}

template <int kWidth, int kHeight, int kRows>
__device__ __forceinline__ void transform(const Problem& p) {
  constexpr int bits = kWidth * kHeight - 1, pieces = bits <= 32 ? 1 : bits <= 64 ? 2 : 4, bytes = (bits + 7) / 8;
  constexpr int lines = kRows + kHeight - 1;
  __shared__ alignas(16) __half2 tile[lines][tile_width];
  const int view = blockIdx.x >= p.blocks_across ? 1 : 0,
            x_of_block = (blockIdx.x - view * p.blocks_across) * block_columns;
  fill(p, view, x_of_block, kRows, kHeight / 2, lines, tile);
  __syncthreads();

  void* const words = p.words[view];
  const std::int64_t pitch = p.words_pitch[view];
  const int x = x_of_block + threadIdx.x, y0 = blockIdx.y * 2 * kRows;
  if (x >= p.width) return;
  const auto at = [&](int line, int dx) { return tile[line][threadIdx.x + dx + (margin - kWidth / 2)]; };
  __half2 window[kHeight][kWidth];
#pragma unroll
  for (int dy = 0; dy < kHeight - 1; ++dy)
#pragma unroll
    for (int dx = 0; dx < kWidth; ++dx) window[dy][dx] = at(dy, dx);
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    // The rows of the window are stored in rotation.
#pragma unroll
    for (int dx = 0; dx < kWidth; ++dx) window[(row + kHeight - 1) % kHeight][dx] = at(row + kHeight - 1, dx);
    const __half2 centre = window[(row + kHeight / 2) % kHeight][kWidth / 2];
    // One byte of each word at a time, stored as 1024 + the byte.
    u32 byte[4 * pieces] = {};
    int left = bits;
    __half2 sum;
#pragma unroll
    for (int dy = 0; dy < kHeight; ++dy)
#pragma unroll
      for (int dx = 0; dx < kWidth; ++dx) {
        if (dy == kHeight / 2 && dx == kWidth / 2) continue;
        if (left == bits || left % 8 == 0) sum = __float2half2_rn((float)(1024 >> (left % 8 == 0 ? 8 : left % 8)));
        const __half2 bit = __hsub2_sat(centre, window[(row + dy) % kHeight][dx]);
        sum = __hfma2(sum, __float2half2_rn(2.0f), bit);
        if (--left % 8 == 0) byte[left / 8] = bits_of(sum);
      }
    static_assert(bytes <= 4 * pieces);
    u32 upper[pieces], lower[pieces];
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const u32 low_upper = __byte_perm(byte[4 * i], byte[4 * i + 1], 0x6240),
                high_upper = __byte_perm(byte[4 * i + 2], byte[4 * i + 3], 0x6240);
      upper[i] = __byte_perm(low_upper, high_upper, 0x5410);
      lower[i] = __byte_perm(low_upper, high_upper, 0x7632);
    }
    const int y = y0 + row;
    if (y >= p.height) return;
    store(words, y * pitch + x, upper);
    if (y + kRows < p.height) store(words, (y + kRows) * pitch + x, lower);
  }
}

}  // namespace
}  // namespace stereopsis::census

using namespace stereopsis::census;

extern "C" {

#define STEREOPSIS_WINDOW(width, height)                                                                               \
  __global__ void __launch_bounds__(block_columns) census_w##width##x##height(const __grid_constant__ Problem p) {     \
    transform<width, height, high_piece>(p);                                                                           \
  }                                                                                                                    \
  __global__ void __launch_bounds__(block_columns) census_low_w##width##x##height(const __grid_constant__ Problem p) { \
    transform<width, height, low_piece>(p);                                                                            \
  }
STEREOPSIS_WINDOW(3, 3)
STEREOPSIS_WINDOW(5, 5)
STEREOPSIS_WINDOW(7, 5)
STEREOPSIS_WINDOW(7, 7)
STEREOPSIS_WINDOW(9, 7)
STEREOPSIS_WINDOW(9, 9)
STEREOPSIS_WINDOW(11, 9)
STEREOPSIS_WINDOW(11, 11)

}  // extern "C"
