// asw-separable with a plain selection as tuned CUDA kernels. A plain selection takes integer disparities of the left
// view from all candidates, without masks. The result equals that of the portable kernels, bit for bit;
// docs/notes/esaw.md has the measurements.
//
// Both passes are products of byte matrices on the tensor cores, which compute exact sums. The windows of 16
// neighbouring pixels cover 48 pixels in a row or in a column, if a window has 33 pixels. The sums of the 16 pixels are
// the product of a banded 16 × 48 matrix of weights and the costs of the 48 pixels, for 8 disparities at a time. Costs
// are computed from the pixels, and remain in shared memory. The averages between the passes have 15 bits. The averages
// are split into two bytes, which need two products. Windows larger than 33 cover 80 pixels.
#pragma once

#include "device/gpu/device.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

namespace stereopsis::asw_separable_wta {

bool cuda_serves(const support_weight_wta::Parameters&, const support_weight_wta::InputOf<gpu::View>&,
                 const wta::OutputOf<gpu::View>&);

// Returns 0 if the aggregation is not supported.
std::size_t cuda_workspace_bytes(const support_weight_wta::Parameters&, Size, int disparities);
void cuda(const support_weight_wta::Parameters&, const support_weight_wta::InputOf<gpu::View>&,
          const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::asw_separable_wta
