// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::ad_census_both {

// Work for costs: 16 lanes hold 64 disparities of a pixel. A block processes up to `groups` such sets of disparities
// for some columns.
inline constexpr int lanes = 16, per_lane = 4, group = lanes * per_lane;

struct Tuning {
  int capability;
  int items;            // threads per block
  int groups, columns;  // sizes per block of the kernel for costs
  int tile;             // pixels and disparities per block of the kernel that copies the cells of the right view
};
inline constexpr Tuning tunings[] = {
    // The numbers were not varied separately.
    {.capability = 80, .items = 256, .groups = 2, .columns = 768, .tile = 128},
};

// The tables have the same contents as ad_census::Tables.
struct Tables {
  static constexpr bool is_argument = true;
  std::uint8_t colour[766], census[66];
};

// The `beyond` columns from `width` on hold the cells of the right view whose left pixel is outside the image.
struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t *left, *right;
  const std::uint64_t *left_census, *right_census;
  std::int64_t left_pitch, right_pitch, left_census_pitch, right_census_pitch;
  std::uint8_t *costs, *costs_beyond, *right_costs;
  int width, beyond, height, channels, disparities, min_disparity;
  bool in_words;  // true if the costs of 4 disparities form a word
};

}  // namespace stereopsis::ad_census_both
