// Constants and arguments shared by the host code and the tuned kernels of window matching.
#pragma once

#include <cstdint>

namespace stereopsis::window_sad_wta {

constexpr int strip_columns = 32;  // column sums, including those of the window's apron
constexpr int most_ranges = 4;     // warps that share a strip, each with disparities of its own
constexpr int index_bits = 14;     // bits of the disparity in a key, below its sum

// The kernel for wide windows: a block has a strip, and each of its warps has some of the columns.
constexpr int wide_warps = 12, columns_of_warp = 24, wide_columns = wide_warps * columns_of_warp;
constexpr int wide_shared_bytes = 172160;

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint32_t *left, *right;
  std::int64_t left_pitch, right_pitch;
  float* disparity;
  std::uint8_t* validity;
  std::int64_t disparity_pitch, validity_pitch;
  std::int32_t width, height, min_disparity, disparities, radius_x, radius_y, shift, border_candidates;
  std::int32_t band;     // rows that share a start
  std::int32_t outputs;  // columns of a strip of the kernel for wide windows
};

}  // namespace stereopsis::window_sad_wta
