// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::scanline {

// Disparities that each kernel supports: four or eight per lane.
inline constexpr int most_disparities_narrow = 128, most_disparities_wide = 256;
inline constexpr int path_items = 64;  // one warp from each end of a line

struct Tuning {
  int capability;
  int mark_items;
  int path_blocks;  // per multiprocessor
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .mark_items = 256, .path_blocks = 10},  // not measured alone
};

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t *left, *right;  // images
  std::int64_t left_pitch, right_pitch;
  const std::uint8_t* costs;
  std::uint16_t* sums;
  std::uint32_t* left_marks[2];   // along rows, along columns: selectors of penalties, `left_words` per row
  std::uint32_t* right_marks[2];  // one byte each, from right to left; four copies of a row, each shifted by a byte
  int left_words, right_words;    // right_words: per copy
  int width, height, disparities, min_disparity, channels, colour;
  // Penalties of 16 bits, two in a word, by the number of views in which the colour differs: 0, 1; 2.
  std::uint32_t p1[2], p2[2];
};

}  // namespace stereopsis::scanline
