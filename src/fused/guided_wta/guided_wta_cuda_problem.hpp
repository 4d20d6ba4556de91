// Constants and arguments shared by the host code and the tuned kernels of the guided filter and its selection.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::guided_wta {

inline constexpr int span = 128;  // number of columns that a warp covers with four neighbouring columns per lane
inline constexpr int widest_radius = 32;
inline constexpr int most_levels = 16;

struct Tuning {
  int capability;
  int threads;               // threads per block of the kernels that process single pixels
  int disparities_of_costs;  // per thread
  int warps_in_block;        // warps per block of the kernels that walk down columns
  // Number of spans that a warp walks down for the sums of coefficients, and blocks per multiprocessor. With colour,
  // more spans would need too many registers.
  int grey_spans, colour_spans, blocks_of_coefficients;
  int tallest_piece;  // largest number of rows of coefficients in a piece
  // The corresponding numbers for the filter, and its rows per block.
  int filter_spans, grey_filter_blocks, colour_filter_blocks, rows_in_filter_block;

  constexpr int spans(int channels) const { return channels == 3 ? colour_spans : grey_spans; }
  constexpr int filter_blocks(int channels) const { return channels == 3 ? colour_filter_blocks : grey_filter_blocks; }
};
inline constexpr Tuning tunings[] = {
    // On an H100, other numbers of blocks per multiprocessor, and 4 or 32 rows per block of the filter, were not
    // faster. The other numbers were not varied separately.
    {.capability = 80,
     .threads = 128,
     .disparities_of_costs = 16,
     .warps_in_block = 4,
     .grey_spans = 2,
     .colour_spans = 1,
     .blocks_of_coefficients = 4,
     .tallest_piece = 128,
     .filter_spans = 2,
     .grey_filter_blocks = 8,
     .colour_filter_blocks = 5,
     .rows_in_filter_block = 8},
};

// Returns the row pitch of planes, a multiple of four columns.
constexpr int pitch_of(int width) { return (width + 3) / 4 * 4; }

// Adjacent warps overlap by this number of columns on each side: the outermost columns of a warp only contribute to
// sums.
constexpr int border_columns(int radius) { return (radius + 3) / 4 * 4; }
constexpr int segments_of(int spans, int width, int radius) {
  const int all = span * spans, step = all - 2 * border_columns(radius);
  return width <= all ? 1 : (width - all + step - 1) / step + 1;
}

// Number of statistics of a window of the guide, and number of sums over its pixels.
constexpr int statistics_numbers(int channels) { return channels == 3 ? 11 : 4; }
constexpr int guide_sums_of(int channels) { return channels == 3 ? 9 : 2; }

// The problem of one strip. Image rows are counted within the strip that is read. All planes have rows of
// pitch_of(width).
struct FilterProblem {
  static constexpr bool is_argument = true;

  int width, height, pitch, radius;
  int border, segments, filter_segments;
  int first, last;  // range of rows of the result
  int begin, end;   // range of rows of coefficients
  int disparities, min_disparity;
  int rows_in_piece;  // number of rows of coefficients that a warp processes at a time

  const void *left, *right;  // words
  std::int64_t left_pitch, right_pitch;
  const std::uint8_t* guide;
  std::int64_t guide_pitch;

  std::uint8_t* costs;          // (disparity, row, x)
  std::uint8_t* guide_bytes;    // bytes by (row, x, channel); with colour, each pixel has a fourth byte, 0
  std::int32_t* guide_columns;  // (sum, row, x)
  float* statistics;            // (number, row, x)
  std::uint32_t* coefficients;  // indexed by (disparity, coefficient, row, x), as prefix sums down a piece
  float* filtered;              // (disparity, row, x)

  float share;  // value of 1/N for a window that lies completely in the image
  float epsilon, factor_a, factor_b, unit_a, unit_b;
  // Parameters of the colour and gradient cost.
  int colour_factor, gradient_factor, colour_limit, gradient_limit, replicates;
  std::uint64_t outside;
};

// The filtered costs of a level, as planes of disparities.
struct LevelPlanes {
  const float* costs;
  int pitch, rows, first_row, min_disparity;
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
