// What the host and the tuned kernels agree on.
#pragma once

#include <cstdint>

namespace stereopsis::scanline {

// Of each kernel: four or eight of them a lane.
inline constexpr int most_disparities_narrow = 128, most_disparities_wide = 256;
inline constexpr int mark_items = 256;
inline constexpr int path_items = 64;

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t *left, *right;  // images
  std::int64_t left_pitch, right_pitch;
  const std::uint8_t* costs;
  std::uint16_t* sums;
  std::uint32_t* left_marks[2];   // along rows, along columns: selectors of penalties, `left_words` a row
  std::uint32_t* right_marks[2];  // a byte each, from right to left; four copies of a row, each a byte further
  int left_words, right_words;    // right_words: of a copy
  int width, height, disparities, min_disparity, channels, colour;
  std::uint32_t p1[2], p2[2];  // in 16 bits: where no colour differs, where one does; where both do
};

}  // namespace stereopsis::scanline
