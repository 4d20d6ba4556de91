// Constants and arguments shared by the host code and the tuned CUDA kernels of esaw.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::support_weight_wta {

constexpr int cuda_cells = 8;  // disparities per work-item: 16 bytes

struct CudaTuning {
  int capability;
  int groups;   // neighbouring work-items per pixel
  int columns;  // pixels per block
  int chain;    // rows that a work-item computes on its way down
};
inline constexpr CudaTuning cuda_tunings[] = {
    // Chains of 4 to 16 rows differ by 2 % on an H100. The other numbers were not measured alone.
    {.capability = 80, .groups = 4, .columns = 64, .chain = 8},
};

// One step. Volumes hold `groups` times 8 disparities per pixel.
struct CudaStep {
  static constexpr bool is_argument = true;
  std::int32_t width, height, groups, disparities;
  std::int32_t offset, first_row, starts;  // first_row: first row of the step's weights
};

}  // namespace stereopsis::support_weight_wta
