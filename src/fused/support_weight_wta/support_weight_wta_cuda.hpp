// esaw with a plain selection (whole disparities of the left view, all candidates, no masks) on CUDA devices, tuned. Its
// meaning is that of the portable kernels, bit for bit.
//
// Each step is one kernel that reads the volume once and writes it once, the floor: a work-item has 8 disparities of a
// column and goes down from offset to offset, so that it makes each horizontal sum once and has the three that a
// vertical sum needs in registers. The last step selects instead of writing. 2 products a cell and sum are one
// instruction, dp2a. On an H100, 5 steps at 1280×960×128 take 1.4 ms, 2.2 TB/s.
#pragma once

#include "device/gpu/device.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

namespace stereopsis::support_weight_wta {

bool cuda_serves(const Parameters&, const InputOf<gpu::View>&, const wta::OutputOf<gpu::View>&);

// 0 where the aggregation is not served.
std::size_t cuda_workspace_bytes(const Parameters&, Size, int disparities);
void cuda(const Parameters&, const InputOf<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
          gpu::Queue&);

}  // namespace stereopsis::support_weight_wta
