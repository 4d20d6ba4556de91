// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::cross_aggregation {

inline constexpr int reach = 33;  // longest arm
inline constexpr int group = 64;  // number of disparities per block, two neighbouring disparities per lane

struct Tuning {
  int capability;
  int warps;                 // per block
  int per_warp;              // number of adjacent pixels of the line per warp
  int ring;                  // number of pixels whose running sums are kept
  int blocks, first_blocks;  // blocks per multiprocessor; first_blocks is the number for the kernel that reads costs
  int table_items;

  constexpr int chunk() const { return warps * per_warp; }  // pixels per step
  constexpr int plane() const { return ring * 128; }        // bytes per ring of words
};
inline constexpr Tuning tunings[] = {
    // The numbers were not varied separately.
    {.capability = 80, .warps = 5, .per_warp = 8, .ring = 128, .blocks = 4, .first_blocks = 8, .table_items = 256},
};
constexpr bool is_sound(const Tuning& t) {
  return t.chunk() >= reach && t.chunk() % 2 == 0 && t.ring % t.per_warp == 0 && 2 * t.chunk() + reach + 1 < t.ring;
}

// Shared memory of a block: totals of the warps, and rings of running sums.
struct Local {
  constexpr Local(const Tuning& t, bool reads_sums, bool makes_sums)
      : line_totals(t.warps * 256),
        regions(t.warps * 384),
        lines(regions + (reads_sums ? 2 * t.plane() : 0)),
        bytes(lines + (makes_sums ? t.plane() : 0)) {}

  int region_totals = 0, line_totals, regions, lines, bytes;
};

// Lines are read up to one chunk beyond their end, and arms up to four pixels beyond.
//
// If there are columns from `view_width` on, they belong to the right view. The cells (x, d) of these columns have a
// left pixel outside the image. Only cells whose right pixel is inside the image count. The costs of these columns are
// stored separately.
struct Problem {
  static constexpr bool is_argument = true;

  // Arms of both views; `right` is null if only the arms of the left view limit the region.
  const std::uint32_t *left, *right;
  std::int64_t left_pitch, right_pitch;
  std::uint32_t*
      // Arms along rows and along columns: 16 bits for the arm before a pixel, plus 1, and 16 bits for the arm after
      // it.
      left_reach[2];
  std::uint32_t* right_reach
      // The same arms in bytes, for two neighbouring pixels, from right to left; the second copy of a row starts at an
      // odd pixel.
      [2];
  std::uint8_t *costs, *costs_beyond;
  std::uint16_t* sums;  // with `padded` disparities per pixel
  int width, view_width, height, disparities, min_disparity, padded, left_pitch_words, table_pitch;
  bool in_pairs;  // true if the costs of 2 disparities are an aligned word of 16 bits
};

}  // namespace stereopsis::cross_aggregation
