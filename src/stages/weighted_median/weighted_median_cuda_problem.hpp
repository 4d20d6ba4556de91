// Constants and arguments shared by the host code and the tuned weighted median.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::weighted_median {

struct Tuning {
  int capability;
  int block_columns, block_rows, block_warps;
  int small_radius;  // largest radius of the kernel for small windows
};
inline constexpr Tuning tunings[] = {
    // On an H100, one warp per pixel takes 0.11 instead of 4.1 ms at 450×375. The numbers were not varied separately.
    {.capability = 80, .block_columns = 32, .block_rows = 4, .block_warps = 8, .small_radius = 9},
};
inline constexpr int large_radius = 24;  // largest radius

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
