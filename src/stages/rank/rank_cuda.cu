// Rank transform of 8-bit images: rank.hpp. A word holds a pixel and the one below it as the bit patterns of half floats,
// whose order is that of integers: one comparison and one addition serve two pixels.
#include <cuda_fp16.h>

#include "device/cuda/early.cuh"
#include "device/gpu/vocabulary.h"
#include "stages/rank/rank_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::rank;

constexpr int rows = tile_width * tile_height / threads;  // of a thread

template <int kRadius>
__device__ __forceinline__ void rank_tile(int tile, IMAGE(const uchar, grey), IMAGE(uchar, ranks)) {
  constexpr int pitch = tile_width + 2 * kRadius, lines = tile_height + 2 * kRadius - 1;
  __shared__ __half2 pairs[lines * pitch];
  const int x0 = tile * tile_width, y0 = blockIdx.y * tile_height;
  const auto grey_at = [&](int x, int y) {
    return __ushort_as_half(PIXEL(grey, clamp(x, 0, WIDTH(grey) - 1), clamp(y, 0, HEIGHT(grey) - 1)));
  };
  for (int i = threadIdx.x; i < lines * pitch; i += threads) {
    const int x = x0 + i % pitch - kRadius, y = y0 + i / pitch - kRadius;
    pairs[i] = __halves2half2(grey_at(x, y), grey_at(x, y + 1));
  }
  __syncthreads();

  const int column = threadIdx.x % tile_width, row = threadIdx.x / tile_width * rows;
  const __half2* corner = pairs + row * pitch + column;
  __half2 centre[rows / 2], count[rows / 2] = {};
#pragma unroll
  for (int k = 0; k < rows / 2; ++k) centre[k] = corner[(kRadius + 2 * k) * pitch + kRadius];
#pragma unroll
  for (int dx = 0; dx <= 2 * kRadius; ++dx)
#pragma unroll
    for (int dy = 0; dy <= 2 * kRadius + rows - 2; ++dy) {
      const __half2 pair = corner[dy * pitch + dx];
#pragma unroll
      for (int k = 0; k < rows / 2; ++k)
        if (2 * k <= dy && dy <= 2 * k + 2 * kRadius) count[k] = __hadd2(count[k], __hlt2(pair, centre[k]));
    }
  const int x = x0 + column, y = y0 + row;
  if (x >= WIDTH(ranks)) return;
#pragma unroll
  for (int r = 0; r < rows; ++r)
    if (y + r < HEIGHT(ranks))
      PIXEL(ranks, x, y + r) = (uchar)__half2uint_rz(r % 2 ? __high2half(count[r / 2]) : __low2half(count[r / 2]));
}

// Groups of the second view, if there is one, follow those of the first one's row.
template <int kRadius>
__device__ __forceinline__ void rank_views(int tiles_across, IMAGE(const uchar, grey), IMAGE(uchar, ranks),
                                           IMAGE(const uchar, other_grey), IMAGE(uchar, other_ranks)) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int tile = blockIdx.x;
  const bool other = tile >= tiles_across;
  rank_tile<kRadius>(other ? tile - tiles_across : tile, other ? other_grey : grey,
                     other ? other_grey_layout : grey_layout, other ? other_ranks : ranks,
                     other ? other_ranks_layout : ranks_layout);
}

#define STEREOPSIS_WINDOW(side)                                                                                     \
  extern "C" __global__ void __launch_bounds__(threads)                                                             \
      rank_w##side(int tiles_across, IMAGE(const uchar, grey), IMAGE(uchar, ranks), IMAGE(const uchar, other_grey), \
                   IMAGE(uchar, other_ranks)) {                                                                     \
    rank_views<side / 2>(tiles_across, grey, grey_layout, ranks, ranks_layout, other_grey, other_grey_layout,       \
                         other_ranks, other_ranks_layout);                                                          \
  }
STEREOPSIS_WINDOW(3)
STEREOPSIS_WINDOW(5)
STEREOPSIS_WINDOW(7)
STEREOPSIS_WINDOW(9)
STEREOPSIS_WINDOW(11)
STEREOPSIS_WINDOW(13)
STEREOPSIS_WINDOW(15)
