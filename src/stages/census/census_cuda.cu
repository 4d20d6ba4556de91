// Census transform of 8-bit images: a subtraction and a shift a bit. A thread walks down a column with its window in registers,
// as floats, whose differences are exact: their sign is the bit, which a funnel shift appends to the word.
#include "stages/census/census_cuda_problem.hpp"

namespace stereopsis::census {
namespace {

using u32 = unsigned;
using u64 = unsigned long long;

template <int kWidth, int kHeight>
__device__ __forceinline__ void transform(const Problem& p) {
  constexpr int bits = kWidth * kHeight - 1, pieces = bits <= 32 ? 1 : bits <= 64 ? 2 : 4;
  constexpr int tile_width = block_columns + kWidth - 1, tile_height = block_rows + kHeight - 1;
  __shared__ float tile[tile_height][tile_width];
  const int x0 = blockIdx.x * block_columns, y0 = blockIdx.y * block_rows;
  for (int row = 0; row < tile_height; ++row) {
    const std::uint8_t* grey = p.grey + min(max(y0 + row - kHeight / 2, 0), p.height - 1) * p.grey_pitch;
    for (int i = threadIdx.x; i < tile_width; i += block_columns) tile[row][i] = grey[min(max(x0 + i - kWidth / 2, 0), p.width - 1)];
  }
  __syncthreads();

  const int x = x0 + threadIdx.x;
  if (x >= p.width) return;
  float window[kHeight][kWidth];
#pragma unroll
  for (int dy = 0; dy < kHeight - 1; ++dy)
#pragma unroll
    for (int dx = 0; dx < kWidth; ++dx) window[dy][dx] = tile[dy][threadIdx.x + dx];
#pragma unroll
  for (int row = 0; row < block_rows; ++row) {
    // Rows take turns in the window.
#pragma unroll
    for (int dx = 0; dx < kWidth; ++dx) window[(row + kHeight - 1) % kHeight][dx] = tile[row + kHeight - 1][threadIdx.x + dx];
    const float centre = window[(row + kHeight / 2) % kHeight][kWidth / 2];
    u32 word[pieces] = {};
    int left = bits;
#pragma unroll
    for (int dy = 0; dy < kHeight; ++dy)
#pragma unroll
      for (int dx = 0; dx < kWidth; ++dx) {
        if (dy == kHeight / 2 && dx == kWidth / 2) continue;
        const u32 difference = __float_as_uint(window[(row + dy) % kHeight][dx] - centre);
        u32& piece = word[--left / 32];
        piece = __funnelshift_l(difference, piece, 1);
      }
    if (y0 + row >= p.height) return;
    const std::int64_t place = (y0 + row) * p.words_pitch + x;
    if constexpr (pieces == 1) static_cast<u32*>(p.words)[place] = word[0];
    else if constexpr (pieces == 2) static_cast<uint2*>(p.words)[place] = {word[0], word[1]};
    else static_cast<uint4*>(p.words)[place] = {word[0], word[1], word[2], word[3]};
  }
}

}  // namespace
}  // namespace stereopsis::census

using stereopsis::census::Problem;

extern "C" {

#define STEREOPSIS_WINDOW(width, height)                                                                            \
  __global__ void __launch_bounds__(stereopsis::census::block_columns) census_w##width##x##height(                 \
      const __grid_constant__ Problem p) {                                                                          \
    stereopsis::census::transform<width, height>(p);                                                                \
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
