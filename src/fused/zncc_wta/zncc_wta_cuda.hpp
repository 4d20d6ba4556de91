// Correlation and selection in both views as tuned CUDA kernels, without a volume or sums in memory. The result equals
// that of zncc_wta.hpp, bit for bit. The portable kernels handle all cases that are not supported here.
//
// Memory: 48 bytes per pixel, independently of the number of disparities.
#pragma once

#include "device/gpu/device.hpp"
#include "fused/zncc_wta/zncc_wta.hpp"

namespace stereopsis::zncc_wta {

inline bool cuda_runs_on(int capability) { return capability >= 80; }

// Returns whether the kernels support the parameters: integer disparities from 8-bit samples.
bool cuda_serves(const Parameters&, int bits, int disparities, bool wants_confidence);

std::size_t cuda_workspace_bytes(const Parameters&, Size);

// Requires that cuda_runs_on() and cuda_serves() return true, and that `workspace` holds at least
// cuda_workspace_bytes().
void cuda(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
          gpu::Queue&);

}  // namespace stereopsis::zncc_wta
