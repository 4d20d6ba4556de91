// asw-separable with a plain selection (whole disparities of the left view, all candidates, no masks) on CUDA devices,
// tuned. Its meaning is that of the portable kernels, bit for bit; docs/notes/esaw.md has the figures.
//
// Both passes are products of matrices of bytes on the tensor cores, whose sums are exact. 16 neighbouring pixels, of a
// row in one pass and of a column in the other, share the 48 pixels that their windows of 33 take in: a band of a
// 16 × 48 matrix of weights times the costs of the 48 pixels, for 8 disparities at a time. Costs come from the pixels and
// stay in shared memory; the 15-bit averages between the passes are two bytes, and two products. Windows above 33 take in
// 80 pixels.
#pragma once

#include "device/gpu/device.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

namespace stereopsis::asw_separable_wta {

bool cuda_serves(const support_weight_wta::Parameters&, const support_weight_wta::InputOf<gpu::View>&,
                 const wta::OutputOf<gpu::View>&);

// 0 where the aggregation is not served.
std::size_t cuda_workspace_bytes(const support_weight_wta::Parameters&, Size, int disparities);
void cuda(const support_weight_wta::Parameters&, const support_weight_wta::InputOf<gpu::View>&,
          const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::asw_separable_wta
