// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::cross_aggregation {

inline constexpr int reach = 33;  // longest arm
inline constexpr int group = 64;  // disparities per block, two neighbours per lane

struct Tuning {
  int capability;
  int warps;                 // per block
  int per_warp;              // adjacent pixels of the line
  int ring;                  // pixels whose running sums are kept
  int blocks, first_blocks;  // per multiprocessor; first_blocks: of the kernel that reads costs
  int table_items;

  constexpr int chunk() const { return warps * per_warp; }  // pixels per step
  constexpr int plane() const { return ring * 128; }        // bytes per ring of words
};
inline constexpr Tuning tunings[] = {
    // The numbers were not measured alone.
    {.capability = 80, .warps = 5, .per_warp = 8, .ring = 128, .blocks = 4, .first_blocks = 8, .table_items = 256},
};
constexpr bool is_sound(const Tuning& t) {
  return t.chunk() >= reach && t.chunk() % 2 == 0 && t.ring % t.per_warp == 0 && 2 * t.chunk() + reach + 1 < t.ring;
}

// Local memory of a block: totals of the warps, and rings of running sums.
struct Local {
  constexpr Local(const Tuning& t, bool reads_sums, bool makes_sums)
      : line_totals(t.warps * 256),
        regions(t.warps * 384),
        lines(regions + (reads_sums ? 2 * t.plane() : 0)),
        bytes(lines + (makes_sums ? t.plane() : 0)) {}

  int region_totals = 0, line_totals, regions, lines, bytes;
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
