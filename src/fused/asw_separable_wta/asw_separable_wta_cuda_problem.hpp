// Constants and arguments shared by the host code and the tuned CUDA kernels of asw-separable.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::asw_separable_wta {

constexpr int cuda_tile = 16;   // pixels whose sums are the rows of a matrix product
constexpr int cuda_rows = 4;    // image rows whose sums share a word
constexpr int cuda_slice = 32;  // disparities at a time

struct CudaTuning {
  int capability;
  int weight_threads, weight_blocks;  // kernel for weights: threads per block; blocks per multiprocessor
  // Adjacent tiles whose weights are computed together, as many as shared memory holds: for windows up to 33, and for
  // larger ones.
  int small_run, large_run;
  int horizontal_threads;             // threads of the horizontal pass per multiprocessor
  int warps;                          // largest number of warps per block of the vertical pass
  int most_tiles;                     // largest number of tiles in all columns of a block of the vertical pass
  int vertical_blocks, large_blocks;  // vertical pass: blocks per multiprocessor for windows up to 33; for larger ones

  constexpr int run_tiles(int blocks) const { return blocks == 3 ? small_run : large_run; }
};
inline constexpr CudaTuning cuda_tunings[] = {
    // A run of 8 tiles occupies 288 threads. The numbers were not measured alone.
    {.capability = 80,
     .weight_threads = 288,
     .weight_blocks = 4,
     .small_run = 8,
     .large_run = 4,
     .horizontal_threads = 768,
     .warps = 8,
     .most_tiles = 128,
     .vertical_blocks = 3,
     .large_blocks = 2},
};

// A tile's sums read the window's pixels in `blocks` blocks of 16, the middle one of which is the tile itself.
constexpr int cuda_reach(int blocks) { return 8 * (blocks - 1); }
constexpr int cuda_blocks(int radius) { return radius <= cuda_reach(3) ? 3 : 5; }

struct CudaWeights {
  static constexpr bool is_argument = true;
  std::uint8_t table[256];  // 8-bit support weights
  std::uint32_t colour_scale;
  std::uint32_t distances[cuda_reach(5) + 1];  // the contributions of 0, 1, … pixels to exponents; see cuda_distance
};

// The kernel adds the product of the colour's scale and the bits of the float 2²³ + root.
constexpr std::uint32_t cuda_distance(std::uint32_t colour_scale, std::uint32_t part) {
  return part + 32768 - colour_scale * 0x4B000000u;
}

struct CudaCosts {
  static constexpr bool is_argument = true;
  std::int32_t disparities, min_disparity, truncation;
};

// Volumes hold `slices` times 32 disparities.
struct CudaVertical {
  static constexpr bool is_argument = true;
  std::int32_t width, height, slices, min_disparity;
  std::int32_t columns, tiles;  // per block
};

}  // namespace stereopsis::asw_separable_wta
