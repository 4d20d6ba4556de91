// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

namespace stereopsis::cross {

inline constexpr int reach = 33;       // longest arm
inline constexpr int tile_width = 64;  // pixels per group
inline constexpr int items = 256;

// Height of a tile. Low tiles read a larger halo but give more groups; few high tiles leave a device idle. An H100 has
// 132 multiprocessors.
inline constexpr int high_tile = 32, low_tile = 8;
inline constexpr int least_high_tiles = 2 * 132;

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint8_t* image;
  std::uint32_t* arms;
  std::int64_t image_pitch, arms_pitch;
  int width, height, channels, longest, short_length, colour, strict_colour;
};

}  // namespace stereopsis::cross
