// What the host and the tuned CUDA kernels agree on: networks 1 → n → n → n → 32 with n = 16 or 32.
#pragma once

#include <cstdint>

namespace stereopsis::learned_features {

inline constexpr int tuned_layers = 4, tuned_components = 32;
inline constexpr int threads = 256, warp = 32;
// The results of a block. All planes of a block have one pitch, so that 16 pixels side by side may go on in the next row.
inline constexpr int block_pitch = 64, block_columns = block_pitch - 2 * tuned_layers, block_rows = 16;
inline constexpr int spare_pixels = 16;  // behind a plane, which the last ones' windows reach into

// The pixels of the plane behind `layer` layers; behind none it is the image.
consteval int plane_pixels(int layer) { return (block_rows + 2 * (tuned_layers - layer)) * block_pitch + spare_pixels; }
constexpr int shared_bytes(int channels) { return plane_pixels(0) + channels * (plane_pixels(1) + plane_pixels(2)); }

// Of the matrix products of 16 pixels by 8 outputs: the output of column `n` of tile `j`, such that a lane has four outputs
// side by side in two tiles.
constexpr int output_of(int j, int n) { return j / 2 * 16 + n / 2 * 4 + j % 2 * 2 + n % 2; }
// The numbers of a layer, for each lane of a warp: biases (with what rounds) and weights, four inputs in each.
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
