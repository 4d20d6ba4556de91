// What the host and the tuned kernels of column costs on CUDA agree on.
#pragma once

#include <cstdint>

namespace stereopsis::column_costs {

constexpr int cuda_reach = 16;  // rows that a window has above and below a pixel, at most
constexpr int cuda_tile = 8;    // right columns side by side, whose products with left ones are made together
constexpr int cuda_warps = 8;   // of a block that makes costs

constexpr int cuda_weight_columns = 32, cuda_weight_rows = 48;  // of a block that makes weights
constexpr int cuda_weight_threads = 256;

constexpr int cuda_group = 4;  // rows whose weights and colours lie side by side

struct CudaWeights {
  static constexpr bool is_argument = true;
  std::uint8_t table[256];  // of support weights in 8 bits
  std::uint32_t colour_scale;
  std::uint32_t distances[cuda_reach + 1];  // the parts of exponents for 0, 1, … pixels; see cuda_distance
};

// A kernel adds the product of the colour's scale and the bits of the float 2²³ + root.
constexpr std::uint32_t cuda_distance(std::uint32_t colour_scale, std::uint32_t part) {
  return part + 32768 - colour_scale * 0x4B000000u;
}

struct CudaColumns {
  static constexpr bool is_argument = true;
  std::int32_t width, height, disparities, min_disparity, truncation;
  std::int32_t first_tile, units;  // units: pieces of work that warps take, of each remainder
  std::int32_t groups;             // of four rows, of a block
};

}  // namespace stereopsis::column_costs
