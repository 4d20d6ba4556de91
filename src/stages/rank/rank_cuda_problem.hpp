// What the host and the tuned CUDA kernels agree on.
#pragma once

namespace stereopsis::rank {

inline constexpr int tile_width = 64, tile_height = 32;  // of a block
inline constexpr int columns = 4, rows = 4;              // of a thread
inline constexpr int threads = tile_width * tile_height / (columns * rows);

}  // namespace stereopsis::rank
