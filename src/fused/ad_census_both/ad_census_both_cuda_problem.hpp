// What the host and the tuned kernels agree on.
#pragma once

#include <cstdint>

namespace stereopsis::ad_census_both {

inline constexpr int items = 256;  // of a group

// Costs: 16 lanes have 64 disparities of a pixel; a group has up to two such groups of disparities of some columns.
inline constexpr int lanes = 16, per_lane = 4, group = lanes * per_lane, groups = 2, columns = 768;
inline constexpr int units = items / lanes;

// The right view's cells: a tile of pixels by disparities.
inline constexpr int tile = 128;

// As ad_census::Tables.
struct Tables {
  static constexpr bool is_argument = true;
  std::uint8_t colour[766], census[66];
};

// Columns from `width` on, `beyond` of them, are those of the right view's cells whose left pixel is outside the image.
struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t *left, *right;
  const std::uint64_t *left_census, *right_census;
  std::int64_t left_pitch, right_pitch, left_census_pitch, right_census_pitch;
  std::uint8_t *costs, *costs_beyond, *right_costs;
  int width, beyond, height, channels, disparities, min_disparity;
  bool in_words;  // costs of 4 disparities are a word
};

}  // namespace stereopsis::ad_census_both
