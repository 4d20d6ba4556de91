// Rank transform of 8-bit images: rank.hpp. A word holds a pixel and the pixel below it, so that one instruction makes
// two comparisons.
#include "device/cuda/early.cuh"
#include "device/gpu/vocabulary.h"
#include "stages/rank/rank_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::rank;

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int tile_width = tuning.tile_width, tile_height = tuning.tile_height;
constexpr int columns = tuning.columns, rows = tuning.rows, threads = tuning.threads();

// Returns the half floats 1024 + v, whose bit pattern is that of 1024 plus v.
__device__ __forceinline__ uint pair_of(uint above, uint below) { return 0x64006400 + above + below * 0x10000; }

// Returns 1.0 in each half whose pixel is darker than the centre, and 0 in the other halves.
__device__ __forceinline__ uint darker(uint pixel, uint centre) {
  uint result;
  asm("sub.sat.f16x2 %0, %1, %2;" : "=r"(result) : "r"(centre), "r"(pixel));
  return result;
}
// Such results are added as integers, three at a time: n · 0x3c00 = n · 15 · 2¹⁰ for n = n_low + n_high · 2¹⁶. The two
// counts can be separated up to 63.
constexpr int most_added = 63;
__device__ __forceinline__ uint counts_of(uint sum) { return sum * 0xeeeeeeef >> 10; }  // 15 · 0xeeeeeeef = 1 (mod 2³²)

// Loads the pixels that a tile needs, in pairs. Threads load runs of eight pixels downwards.
template <int kLines, int kPitch>
__device__ __forceinline__ void fill(uint* pairs, int x0, int y0, IMAGE(const uchar, grey)) {
  constexpr int run = 8;
  for (int i = threadIdx.x; i < (kLines + run - 1) / run * kPitch; i += threads) {
    const int column = i % kPitch, line = i / kPitch * run;
    const uchar* from = grey + grey_layout.offset + clamp(x0 + column, 0, WIDTH(grey) - 1);
    const auto pixel = [&](int y) -> uint { return from[clamp(y, 0, HEIGHT(grey) - 1) * grey_layout.pitch]; };
    uint above = pixel(y0 + line);
#pragma unroll
    for (int k = 0; k < run; ++k) {
      const uint below = pixel(y0 + line + k + 1);
      if (line + k < kLines) pairs[(line + k) * kPitch + column] = pair_of(above, below);
      above = below;
    }
  }
}

// Writes the ranks for adjacent columns, whose rows are stored in pairs.
__device__ __forceinline__ void write_ranks(const uint (&count)[rows / 2][columns], int x, int y, IMAGE(uchar, ranks)) {
  const int end = min(columns, WIDTH(ranks) - x);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    if (y + r >= HEIGHT(ranks)) return;
    uint word = 0;
#pragma unroll
    for (int c = 0; c < columns; ++c) word |= (count[r / 2][c] >> r % 2 * 16 & 0xff) << 8 * c;
    uchar* const to = &PIXEL(ranks, x, y + r);
    if (end == columns && (ulong)to % columns == 0) {
      *reinterpret_cast<uint*>(to) = word;
    } else {
#pragma unroll 1
      for (int c = 0; c < end; ++c) to[c] = (uchar)(word >> 8 * c);
    }
  }
}

template <int kRadius>
__device__ __forceinline__ void rank_tile(int tile, IMAGE(const uchar, grey), IMAGE(uchar, ranks)) {
  constexpr int side = 2 * kRadius + 1, lines = tile_height + side - 2, reach = (columns + side + 2) / 4 * 4,
                pitch = tile_width - columns + reach, added_lines = most_added / side;
  __shared__ alignas(16) uint pairs[lines * pitch];
  const int x0 = tile * tile_width, y0 = blockIdx.y * tile_height;
  fill<lines, pitch>(pairs, x0 - kRadius, y0 - kRadius, grey, grey_layout);
  __syncthreads();

  constexpr int across = tile_width / columns;
  const int column = threadIdx.x % across * columns, row = threadIdx.x / across * rows;
  const uint* corner = pairs + row * pitch + column;
  uint centre[rows / 2][columns], sum[rows / 2][columns] = {}, count[rows / 2][columns] = {};
#pragma unroll
  for (int k = 0; k < rows / 2; ++k)
#pragma unroll
    for (int c = 0; c < columns; ++c) centre[k][c] = corner[(kRadius + 2 * k) * pitch + kRadius + c];
#pragma unroll
  for (int dy = 0; dy < side + rows - 2; ++dy) {
    uint window[reach];
#pragma unroll
    for (int i = 0; i < reach; i += 4) {
      const uint4 v = *reinterpret_cast<const uint4*>(corner + dy * pitch + i);
      window[i] = v.x, window[i + 1] = v.y, window[i + 2] = v.z, window[i + 3] = v.w;
    }
#pragma unroll
    for (int k = 0; k < rows / 2; ++k) {
      const int line = dy - 2 * k;
      if (line < 0 || line >= side) continue;
#pragma unroll
      for (int c = 0; c < columns; ++c) {
#pragma unroll
        for (int dx = 0; dx < side; ++dx) sum[k][c] += darker(window[c + dx], centre[k][c]);
        if ((line + 1) % added_lines == 0 || line == side - 1) {
          count[k][c] += counts_of(sum[k][c]);
          sum[k][c] = 0;
        }
      }
    }
  }
  write_ranks(count, x0 + column, y0 + row, ranks, ranks_layout);
}

// If there is a second view, its groups follow the groups of the first view in the same row.
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
