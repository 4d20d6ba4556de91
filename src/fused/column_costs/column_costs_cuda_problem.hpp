// Constants and arguments shared by the host code and the tuned CUDA kernels of column costs.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::column_costs {

constexpr int cuda_reach = 16;  // largest number of rows that a window has above and below a pixel
constexpr int cuda_tile = 8;    // adjacent right columns whose products with left ones are computed together
constexpr int cuda_group = 4;   // rows whose weights and colours are stored together

struct CudaTuning {
  int capability;
  int weight_threads, weight_columns, weight_rows;  // per block of the kernel for weights
  int warps, blocks;                                // kernel for costs: warps per block; blocks per multiprocessor
  // Groups of rows per block of the kernel for costs: so few that there are `turns` times as many blocks as run
  // concurrently.
  int turns, least_groups, most_groups;
};
inline constexpr CudaTuning cuda_tunings[] = {
    // On an H100, smaller blocks took 1 % less time at 1280×960 and 7 % more at 450×375, and other numbers of registers
    // 4 and 11 % more. The rest was not measured alone.
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
  std::uint32_t distances[cuda_reach + 1];  // the contributions of 0, 1, … pixels to exponents; see cuda_distance
};

// The kernel adds the product of the colour's scale and the bits of the float 2²³ + root.
constexpr std::uint32_t cuda_distance(std::uint32_t colour_scale, std::uint32_t part) {
  return part + 32768 - colour_scale * 0x4B000000u;
}

struct CudaColumns {
  static constexpr bool is_argument = true;
  std::int32_t width, height, disparities, min_disparity, truncation;
  std::int32_t first_tile, units;  // units: pieces of work for warps, per remainder
  std::int32_t groups;             // groups of four rows per block
};

}  // namespace stereopsis::column_costs
