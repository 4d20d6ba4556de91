// Constants and arguments shared by the host code and the tuned CUDA kernels of column costs.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::column_costs {

constexpr int cuda_reach = 16;  // largest number of rows that a window has above a pixel, and below it
// Number of adjacent right columns whose products with left columns are computed together.
constexpr int cuda_tile = 8;
constexpr int cuda_group = 4;  // number of rows whose weights and colours are stored together

struct CudaTuning {
  int capability;
  int weight_threads, weight_columns, weight_rows;  // sizes per block of the kernel that computes weights
  // Warps per block, and blocks per multiprocessor, of the kernel that computes costs.
  int warps, blocks;
  // Groups of rows per block of the kernel that computes costs. The number is chosen so that there are `turns` times as
  // many blocks as run concurrently.
  int turns, least_groups, most_groups;
};
inline constexpr CudaTuning cuda_tunings[] = {
    // On an H100, smaller blocks took 1 % less time at 1280×960, but 7 % more at 450×375. Other numbers of registers
    // took 4 % and 11 % more time. The other numbers were not varied separately.
    {.capability = 80,
     .weight_threads = 256,
     .weight_columns = 32,
     .weight_rows = 48,
     .warps = 8,
     .blocks = 2,
     .turns = 4,
     .least_groups = 4,
     .most_groups = 16},
};

struct CudaWeights {
  static constexpr bool is_argument = true;
  std::uint8_t table[256];  // 8-bit support weights
  std::uint32_t colour_scale;
  // Contributions of the distances 0, 1, … pixels to the exponents; see cuda_distance.
  std::uint32_t distances[cuda_reach + 1];
};

// The kernel adds the product of the colour's scale and of the bits of the float 2²³ + root to this value.
constexpr std::uint32_t cuda_distance(std::uint32_t colour_scale, std::uint32_t part) {
  return part + 32768 - colour_scale * 0x4B000000u;
}

struct CudaColumns {
  static constexpr bool is_argument = true;
  std::int32_t width, height, disparities, min_disparity, truncation;
  // `units` is the number of parts into which the work for warps is divided, for each remainder.
  std::int32_t first_tile, units;
  std::int32_t groups;             // groups of four rows per block
};

}  // namespace stereopsis::column_costs
