// Constants shared by the host code and the tuned CUDA kernel.
#pragma once

#include "device/gpu/tuning.hpp"

namespace stereopsis::learned_sum {

inline constexpr int cuda_components = 32;    // the network has this number of components
inline constexpr int cuda_disparities = 128;  // per block
inline constexpr int cuda_run = 8;            // adjacent disparities of a left pixel in a matrix product

struct Tuning {
  int capability;
  int threads;  // per block; a warp has 8 columns, for each of 16 left pixels
};
inline constexpr Tuning tunings[] = {
    // On an H100, this kernel takes 0.24 ms at 1280×960×128, and the portable kernel 0.46. The number was not varied.
    {.capability = 80, .threads = 256},
};

}  // namespace stereopsis::learned_sum
