// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

namespace stereopsis::left_right_median {

inline constexpr int columns = 30, rows = 5, warps = 4;  // columns and rows per warp; warps per block

}  // namespace stereopsis::left_right_median
