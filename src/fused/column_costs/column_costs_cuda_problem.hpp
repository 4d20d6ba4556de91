// Constants and arguments shared by the host code and the tuned CUDA kernels of column costs.
#pragma once

#include <cstdint>

namespace stereopsis::column_costs {

constexpr int cuda_reach = 16;  // largest number of rows that a window has above and below a pixel
constexpr int cuda_tile = 8;    // adjacent right columns whose products with left ones are computed together
constexpr int cuda_warps = 8;   // per block that computes costs

constexpr int cuda_weight_columns = 32, cuda_weight_rows = 48;  // the block size when computing weights
constexpr int cuda_weight_threads = 256;

constexpr int cuda_group = 4;  // rows whose weights and colours are stored together

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
