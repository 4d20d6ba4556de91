// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

namespace stereopsis::rank {

inline constexpr int tile_width = 64, tile_height = 32;  // per block
inline constexpr int columns = 4, rows = 4;              // per thread
inline constexpr int threads = tile_width * tile_height / (columns * rows);

}  // namespace stereopsis::rank
