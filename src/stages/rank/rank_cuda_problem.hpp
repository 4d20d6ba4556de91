// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include "device/gpu/tuning.hpp"

namespace stereopsis::rank {

struct Tuning {
  int capability;
  int tile_width, tile_height;  // size of a block in pixels
  int columns, rows;            // columns and rows per thread

  constexpr int threads() const { return tile_width * tile_height / (columns * rows); }
};
inline constexpr Tuning tunings[] = {
    // The numbers were not varied separately.
    {.capability = 80, .tile_width = 64, .tile_height = 32, .columns = 4, .rows = 4},
};

}  // namespace stereopsis::rank
