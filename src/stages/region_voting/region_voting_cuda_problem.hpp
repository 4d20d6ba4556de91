// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include "device/gpu/tuning.hpp"

namespace stereopsis::region_voting {

struct Tuning {
  int capability;
  int warps;  // warps per block; as many blocks are launched as run concurrently on the device
  int tile;   // side of the tiles for which the kernel records whether a pixel was filled
};
inline constexpr Tuning tunings[] = {
    // The numbers were not varied separately.
    {.capability = 80, .warps = 8, .tile = 16},
};

}  // namespace stereopsis::region_voting
