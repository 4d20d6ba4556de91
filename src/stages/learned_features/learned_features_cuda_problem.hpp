// Constants and arguments shared by the host code and the tuned CUDA kernels, for networks 1 → n → n → n → 32 with n =
// 16 or 32.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::learned_features {

inline constexpr int tuned_layers = 4, tuned_components = 32;
inline constexpr int warp = 32;
// Number of pixels after a plane, because the windows of its last pixels extend beyond it.
inline constexpr int spare_pixels = 16;

struct Tuning {
  int capability;
  int threads, blocks;  // threads per block, and blocks per multiprocessor
  // The outputs of a block, in pixels. All planes of a block have the same pitch, so that a run of 16 adjacent pixels
  // may continue in the next row.
  int block_pitch, block_rows;

  constexpr int block_columns() const { return block_pitch - 2 * tuned_layers; }
  // Returns the number of pixels of the plane after `layer` layers, where layer 0 is the image.
  constexpr int plane_pixels(int layer) const {
    return (block_rows + 2 * (tuned_layers - layer)) * block_pitch + spare_pixels;
  }
  constexpr int shared_bytes(int channels) const {
    return plane_pixels(0) + channels * (plane_pixels(1) + plane_pixels(2));
  }
};
inline constexpr Tuning tunings[] = {
    // The numbers were not varied separately.
    {.capability = 80, .threads = 256, .blocks = 2, .block_pitch = 64, .block_rows = 16},
};

// Returns the output in column `n` of tile `j`, in matrix products of 16 pixels by 8 outputs. The order is such that a
// lane holds four adjacent outputs in two tiles.
constexpr int output_of(int j, int n) { return j / 2 * 16 + n / 2 * 4 + j % 2 * 2 + n % 2; }
// Returns the number of words of a layer: for each lane of a warp the biases, including the rounding term, and the
// weights, four inputs per word.
consteval int tuned_words(int in, int out) { return warp * (out / 4 + (in == 1 ? 1 : 9 * in / 16) * out / 8); }

struct Problem {
  static constexpr bool is_argument = true;
  const std::uint8_t* grey[2];
  std::int8_t* features[2];
  std::int64_t grey_pitch[2], features_pitch[2];
  const std::int32_t* weights;
  int width, height, blocks_across;
  int shift[tuned_layers];
};

}  // namespace stereopsis::learned_features
