// What the host and the tuned kernels of asw-separable on CUDA agree on.
#pragma once

#include <cstdint>

namespace stereopsis::asw_separable_wta {

constexpr int cuda_tile = 16;   // pixels whose sums are the rows of a matrix product
constexpr int cuda_rows = 4;    // of the image, whose sums share a word
constexpr int cuda_slice = 32;  // disparities at a time
constexpr int cuda_warps = 8;   // of a block, at most

// A tile's sums take in the window's pixels in `blocks` times 16, of which its own are the middle ones.
constexpr int cuda_reach(int blocks) { return 8 * (blocks - 1); }
constexpr int cuda_blocks(int radius) { return radius <= cuda_reach(3) ? 3 : 5; }
// Tiles side by side whose weights are made together, as many as shared memory holds.
constexpr int cuda_run_tiles(int blocks) { return blocks == 3 ? 8 : 4; }
constexpr int cuda_most_tiles = 128;  // of all columns of a block of the vertical pass

constexpr int cuda_weight_threads = 288;  // as many as a run of 8 tiles has work for

struct CudaWeights {
  static constexpr bool is_argument = true;
  std::uint8_t table[256];  // of support weights in 8 bits
  std::uint32_t colour_scale;
  std::uint32_t distances[cuda_reach(5) + 1];  // the parts of exponents for 0, 1, … pixels; see cuda_distance
};

// A kernel adds the product of the colour's scale and the bits of the float 2²³ + root.
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
  std::int32_t columns, tiles;  // of a block
};

}  // namespace stereopsis::asw_separable_wta
