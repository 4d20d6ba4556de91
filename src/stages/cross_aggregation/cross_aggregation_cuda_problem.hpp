// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

namespace stereopsis::cross_aggregation {

inline constexpr int reach = 33;                // longest arm
inline constexpr int group = 64;                // disparities per block, two neighbours per lane
inline constexpr int warps = 5;                 // per block
inline constexpr int per_warp = 8;              // adjacent pixels of the line
inline constexpr int chunk = warps * per_warp;  // pixels per step
inline constexpr int ring = 128;                // pixels whose running sums are kept
static_assert(chunk >= reach && chunk % 2 == 0 && ring % per_warp == 0 && 2 * chunk + reach + 1 < ring);
inline constexpr int table_items = 256;

// Local memory of a block: totals of the warps, and rings of running sums.
inline constexpr int plane = ring * 128;  // bytes per ring of words
template <bool kReadsSums, bool kMakesSums>
struct Local {
  static constexpr int region_totals = 0, line_totals = warps * 256, regions = warps * 384;
  static constexpr int lines = regions + (kReadsSums ? 2 * plane : 0);
  static constexpr int bytes = lines + (kMakesSums ? plane : 0);
};

// Lines are read up to a chunk beyond their end, and their arms up to four pixels beyond.
//
// Columns from `view_width` on, if there are any, belong to the right view: their cells (x, d) have a left pixel
// outside the image. Only cells whose right pixel is inside the image count. Their costs are stored separately.
struct Problem {
  static constexpr bool is_argument = true;

  const std::uint32_t *left, *right;  // arms; right: null if only the left view's arms bound the region
  std::int64_t left_pitch, right_pitch;
  std::uint32_t*
      left_reach[2];  // along rows, along columns: 1 + a pixel's arm before, and the arm behind, 16 bits each
  std::uint32_t* right_reach
      [2];  // a byte each, of two neighbours, from right to left; two copies of a row, one from odd pixels on
  std::uint8_t *costs, *costs_beyond;
  std::uint16_t* sums;  // `padded` disparities a pixel
  int width, view_width, height, disparities, min_disparity, padded, left_pitch_words, table_pitch;
  bool in_pairs;  // costs of 2 disparities are a word of 16 bits
};

}  // namespace stereopsis::cross_aggregation
