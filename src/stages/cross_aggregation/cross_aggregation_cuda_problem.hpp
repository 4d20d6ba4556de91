// What the host and the tuned kernels agree on.
#pragma once

#include <cstdint>

namespace stereopsis::cross_aggregation {

inline constexpr int reach = 33;                // of arms, at most
inline constexpr int group = 64;                // disparities of a block, two neighbours a lane
inline constexpr int warps = 5;                 // of a block
inline constexpr int per_warp = 8;              // pixels of the line next to each other
inline constexpr int chunk = warps * per_warp;  // pixels of a step
inline constexpr int ring = 128;                // pixels whose running sums are kept
static_assert(chunk >= reach && chunk % 2 == 0 && ring % per_warp == 0 && 2 * chunk + reach + 1 < ring);
inline constexpr int table_items = 256;

// Local memory of a block: totals of warps, rings of running sums.
inline constexpr int plane = ring * 128;  // bytes of a ring of words
template <bool kReadsSums, bool kMakesSums>
struct Local {
  static constexpr int region_totals = 0, line_totals = warps * 256, regions = warps * 384;
  static constexpr int lines = regions + (kReadsSums ? 2 * plane : 0);
  static constexpr int bytes = lines + (kMakesSums ? plane : 0);
};

// Beyond their end lines are read up to a chunk, and their arms up to four.
//
// Columns from `view_width` on, where there are any, are those of the right view's cells whose left pixel is outside the
// image: of them cells (x, d) count whose right pixel is inside. Their costs lie apart.
struct Problem {
  static constexpr bool is_argument = true;

  const std::uint32_t *left, *right;  // arms; right: null where those of the left view bound alone
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
