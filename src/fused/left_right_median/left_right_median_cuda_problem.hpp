// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include "device/gpu/tuning.hpp"

namespace stereopsis::left_right_median {

inline constexpr int columns = 30;  // columns of results per warp; the outer lanes hold the pixels on both sides

struct Tuning {
  int capability;
  int rows;   // per warp
  int warps;  // per block
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .rows = 5, .warps = 4},  // the numbers were not varied separately
};

}  // namespace stereopsis::left_right_median
