// What the host and the tuned CUDA kernel agree on.
#pragma once

namespace stereopsis::left_right_median {

inline constexpr int columns = 30, rows = 5, warps = 4;  // of a warp; of a block

}  // namespace stereopsis::left_right_median
