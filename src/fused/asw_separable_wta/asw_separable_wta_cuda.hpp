// asw-separable with a plain selection (integer disparities of the left view, all candidates, no masks) as tuned CUDA
// kernels. The result equals that of the portable kernels, bit for bit; docs/notes/esaw.md has the measurements.
//
// Both passes are products of byte matrices on the tensor cores, whose sums are exact. 16 neighbouring pixels, of a row
// in one pass and of a column in the other, share the 48 pixels of their windows of 33. Their sums are the product of a
// band of a 16 × 48 matrix of weights and the costs of the 48 pixels, for 8 disparities at a time. Costs are computed
// from the pixels and stay in shared memory. The 15-bit averages between the passes are two bytes, and take two
// products. Windows above 33 read 80 pixels.
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
