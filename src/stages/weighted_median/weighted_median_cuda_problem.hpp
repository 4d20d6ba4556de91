// Constants and arguments shared by the host code and the tuned weighted median.
#pragma once

#include <cstdint>

namespace stereopsis::weighted_median {

inline constexpr int block_columns = 32;
inline constexpr int block_rows = 4;
inline constexpr int warps_in_block = 8;
// The largest radius of each of the two kernels.
inline constexpr int small_radius = 9;
inline constexpr int large_radius = 24;

struct Problem {
  static constexpr bool is_argument = true;

  const float* disparity;
  const std::uint8_t *validity, *image;
  float* filtered;
  std::int64_t disparity_pitch, validity_pitch, image_pitch, filtered_pitch;
  int width, height, channels, radius;
  std::uint16_t colour[256], distance[32];
};

}  // namespace stereopsis::weighted_median
