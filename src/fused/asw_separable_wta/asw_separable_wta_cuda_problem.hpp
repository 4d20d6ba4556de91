// Constants and arguments shared by the host code and the tuned CUDA kernels of asw-separable.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::asw_separable_wta {

constexpr int cuda_tile = 16;   // number of pixels whose sums form the rows of a matrix product
constexpr int cuda_rows = 4;    // number of image rows whose sums share a word
constexpr int cuda_slice = 32;  // number of disparities that are processed at a time

struct CudaTuning {
  int capability;
  // Threads per block, and blocks per multiprocessor, of the kernel that computes weights.
  int weight_threads, weight_blocks;
  // Number of adjacent tiles whose weights are computed together, for windows up to 33 and for larger windows. Shared
  // memory limits this number.
  int small_run, large_run;
  int horizontal_threads;             // number of threads of the horizontal pass per multiprocessor
  int warps;                          // largest number of warps per block of the vertical pass
  // Largest number of tiles in all columns that a block of the vertical pass processes.
  int most_tiles;
  // Blocks of the vertical pass per multiprocessor, for windows up to 33 and for larger windows.
  int vertical_blocks, large_blocks;

  constexpr int run_tiles(int blocks) const { return blocks == 3 ? small_run : large_run; }
};
inline constexpr CudaTuning cuda_tunings[] = {
    // A run of 8 tiles occupies 288 threads. The numbers were not varied separately.
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

// The sums of a tile read the pixels of the window in `blocks` blocks of 16, and the tile is the middle block.
constexpr int cuda_reach(int blocks) { return 8 * (blocks - 1); }
constexpr int cuda_blocks(int radius) { return radius <= cuda_reach(3) ? 3 : 5; }

struct CudaWeights {
  static constexpr bool is_argument = true;
  std::uint8_t table[256];  // 8-bit support weights
  std::uint32_t colour_scale;
  // Contributions of the distances 0, 1, … pixels to the exponents; see cuda_distance.
  std::uint32_t distances[cuda_reach(5) + 1];
};

// The kernel adds the product of the colour's scale and of the bits of the float 2²³ + root to this value.
constexpr std::uint32_t cuda_distance(std::uint32_t colour_scale, std::uint32_t part) {
  return part + 32768 - colour_scale * 0x4B000000u;
}

struct CudaCosts {
  static constexpr bool is_argument = true;
  std::int32_t disparities, min_disparity, truncation;
};

// Arguments of the vertical pass. Volumes hold 32 disparities for each of the `slices`.
struct CudaVertical {
  static constexpr bool is_argument = true;
  std::int32_t width, height, slices, min_disparity;
  std::int32_t columns, tiles;  // per block
};

}  // namespace stereopsis::asw_separable_wta
