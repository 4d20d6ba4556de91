// Constants and arguments shared by the host code and the tuned CUDA kernels of esaw.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::support_weight_wta {

constexpr int cuda_cells = 8;  // disparities per work-item, in 16 bytes

struct CudaTuning {
  int capability;
  int groups;   // number of neighbouring work-items that share a pixel
  int columns;  // number of pixels per block
  int chain;    // number of rows that a work-item computes on its way down
};
inline constexpr CudaTuning cuda_tunings[] = {
    // Chains of 4 to 16 rows differ by 2 % on an H100. The other numbers were not varied separately.
    {.capability = 80, .groups = 4, .columns = 64, .chain = 8},
};

// One step. Arguments of a step. Volumes hold 8 disparities for each of the `groups` of a pixel.
struct CudaStep {
  static constexpr bool is_argument = true;
  std::int32_t width, height, groups, disparities;
  std::int32_t offset, first_row, starts;  // first_row is the first row of the weights of this step
};

}  // namespace stereopsis::support_weight_wta
