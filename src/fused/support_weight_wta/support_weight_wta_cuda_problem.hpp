// Constants and arguments shared by the host code and the tuned CUDA kernels of esaw.
#pragma once

#include <cstdint>

namespace stereopsis::support_weight_wta {

constexpr int cuda_cells = 8;     // disparities per work-item: 16 bytes
constexpr int cuda_groups = 4;    // neighbouring work-items per pixel: 64 bytes
constexpr int cuda_columns = 64;  // pixels per block
constexpr int cuda_chain = 8;     // rows that a work-item computes on its way down: 4 to 16 differ by 2 %

// One step. Volumes hold `groups` times 8 disparities per pixel.
struct CudaStep {
  static constexpr bool is_argument = true;
  std::int32_t width, height, groups, disparities;
  std::int32_t offset, first_row, starts;  // first_row: first row of the step's weights
};

}  // namespace stereopsis::support_weight_wta
