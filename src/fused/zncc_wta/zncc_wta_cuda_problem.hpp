// What the host lays out and the tuned CUDA kernels read.
#pragma once

#include <cstdint>

namespace stereopsis::zncc_wta {

inline constexpr int strip_rows = 16;      // that a thread follows side by side
inline constexpr int most_warps = 9;       // of a block: 32 disparities each
inline constexpr int most_columns = 128;   // of a block
inline constexpr int largest_window = 31;  // whose sums floats hold

// Rows of the arrays below begin `radius` above the image; pixels outside it are those at the border.
struct Problem {
  int width, height, radius;
  int disparities, min_disparity;
  int columns;  // of a block
  int rows;     // of the arrays: strips, and a window more
  int pitch;    // pixels of a row of right arrays: `window` more on both sides of the image

  const std::int16_t* left_samples;
  const std::int16_t* right_samples;
  const std::uint8_t* mask_left;  // masks may be null
  const std::uint8_t* mask_right;
  std::int64_t left_pitch, right_pitch, mask_left_pitch, mask_right_pitch;
  const std::int32_t* sums[2];  // of windows, and 1/√V: from `radius` before the image on
  const float* roots[2];

  // Of a left column and row: samples (entering, −leaving) of the window's next row and their negatives of its first, as
  // 16-bit pairs; [width + window][rows].
  void* left_pairs;
  // Mean (negative), fraction, 1/√V; [width][rows].
  void* left_windows;
  // Of a right pixel and row: the same samples, unsigned ones, as bytes; [rows][pitch].
  std::uint32_t* right_bytes;
  // Σ r and 1/√V; [rows][pitch].
  void* right_windows;

  std::uint32_t* left_best;  // score << 16 | 65535 − k; [height][width]
  std::uint32_t* right_best;
  float* disparity;
  std::uint8_t* validity;
  float* right_disparity;  // null: not wanted
  std::int64_t disparity_pitch, validity_pitch, right_disparity_pitch;
  float one_over_n;

  static constexpr bool is_argument = true;
};

}  // namespace stereopsis::zncc_wta
