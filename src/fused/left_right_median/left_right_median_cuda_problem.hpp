// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include "device/gpu/tuning.hpp"

namespace stereopsis::left_right_median {

inline constexpr int columns = 30;  // per warp; its outer lanes hold the pixels beside them

struct Tuning {
  int capability;
  int rows;   // per warp
  int warps;  // per block
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .rows = 5, .warps = 4},  // not measured alone
};

}  // namespace stereopsis::left_right_median
