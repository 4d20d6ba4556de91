// What the host and the tuned CUDA kernels agree on.
#pragma once

namespace stereopsis::rank {

inline constexpr int tile_width = 32, tile_height = 32, threads = 256;  // of a block

}  // namespace stereopsis::rank
