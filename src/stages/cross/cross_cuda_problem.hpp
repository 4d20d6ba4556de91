// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::cross {

inline constexpr int reach = 33;  // longest arm

struct Tuning {
  int capability;
  int tile_width, items;    // width of a tile in pixels, and number of threads per block
  int high_tile, low_tile;  // rows per block; low tiles have a larger halo but result in more blocks
  int least_high_tiles;     // least number of high tiles per multiprocessor; with fewer, low tiles are used
};
inline constexpr Tuning tunings[] = {
    // The numbers were not varied separately.
    {.capability = 80, .tile_width = 64, .items = 256, .high_tile = 32, .low_tile = 8, .least_high_tiles = 2},
};

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t* image;
  std::uint32_t* arms;
  std::int64_t image_pitch, arms_pitch;
  int width, height, channels, longest, short_length, colour, strict_colour;
};

}  // namespace stereopsis::cross
