// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::scanline {

// Largest numbers of disparities of the kernels with four and with eight disparities per lane.
inline constexpr int most_disparities_narrow = 128, most_disparities_wide = 256;
inline constexpr int path_items = 64;  // two warps, one from each end of a line

struct Tuning {
  int capability;
  int mark_items;
  int path_blocks;  // per multiprocessor
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .mark_items = 256, .path_blocks = 10},  // the numbers were not varied separately
};

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t *left, *right;  // images
  std::int64_t left_pitch, right_pitch;
  const std::uint8_t* costs;
  std::uint16_t* sums;
  std::uint32_t* left_marks[2];  // selectors of penalties along rows and along columns, with `left_words` per row
  // Marks of one byte, from right to left, in four copies of a row, each shifted by one byte.
  std::uint32_t* right_marks[2];
  int left_words, right_words;  // right_words is the number per copy
  int width, height, disparities, min_disparity, channels, colour;
  // Penalties of 16 bits, two per word, by the number of views in which the colour differs: 0 and 1 in the first word,
  // 2 in the second.
  std::uint32_t p1[2], p2[2];
};

}  // namespace stereopsis::scanline
