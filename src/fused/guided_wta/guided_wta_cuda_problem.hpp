// What the tuned kernels of the guided filter and its selection are given.
#pragma once

#include <cstdint>

namespace stereopsis::guided_wta {

inline constexpr int warp_columns = 128;  // that a warp walks down, four a lane
inline constexpr int warps_in_block = 4;
inline constexpr int disparities_of_warp = 2;
inline constexpr int disparities_of_block = disparities_of_warp * warps_in_block;
inline constexpr int most_levels = 16;

// Image rows are those of the strip that is read; disparities are planes.
struct FilterProblem {
  static constexpr bool is_argument = true;

  int width, height, radius, channels;
  int first, last;  // rows of the result
  int begin, end;   // rows of coefficients
  int disparities, min_disparity;
  int rows_in_piece;  // that a warp walks down

  const void *left, *right;  // words
  std::int64_t left_pitch, right_pitch;
  const std::uint8_t* guide;
  std::int64_t guide_pitch;

  std::int32_t* guide_columns;  // (sum, row, x)
  std::uint32_t* packed_guide;  // (row, x)
  float* statistics;            // (quadruple, row, x): see pack()
  std::int32_t* coefficients;   // (disparity, row, x, coefficient)
  float* filtered;              // (disparity, row, x)

  float epsilon, factor_a, factor_b, unit_a, unit_b;
  // Of the colour and gradient cost.
  int colour_factor, gradient_factor, colour_limit, gradient_limit, replicates;
  std::uint64_t outside;
};

// A level's filtered costs: planes of disparities.
struct LevelPlanes {
  const float* costs;
  int width, rows, first_row, min_disparity;
  float weight;
};

struct SelectProblem {
  static constexpr bool is_argument = true;

  LevelPlanes levels[most_levels];
  int count;
  int width, rows, disparities, min_disparity, first_row, from_right;
  int subpixel, uniqueness, border_candidates;
  const std::uint8_t *mask_left, *mask_right;
  std::int64_t mask_left_pitch, mask_right_pitch;
  float* disparity;
  std::uint8_t* validity;
  float* confidence;
  std::int64_t disparity_pitch, validity_pitch, confidence_pitch;
};

}  // namespace stereopsis::guided_wta
