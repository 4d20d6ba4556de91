// What the tuned kernels of window matching are given.
#pragma once

#include <cstdint>

namespace stereopsis::window_sad_wta {

constexpr int strip_columns = 32;  // of column sums; the window's apron is among them
constexpr int most_ranges = 4;     // warps that share a strip, each with disparities of its own
constexpr int strip_outputs = 64;  // of the kernel for wide windows
constexpr int index_bits = 14;     // of a disparity in a key, below its sum

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint32_t *left, *right;
  std::int64_t left_pitch, right_pitch;
  float* disparity;
  std::uint8_t* validity;
  std::int64_t disparity_pitch, validity_pitch;
  std::int32_t width, height, min_disparity, disparities, radius_x, radius_y, shift, band;
};

}  // namespace stereopsis::window_sad_wta
