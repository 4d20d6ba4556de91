// Correlation and selection of both views on CUDA devices, tuned: no volume, and no sum is kept in memory. Its meaning
// is that of zncc_wta.hpp, bit for bit; what it does not do is left to the portable kernels.
//
// Memory: 48 bytes a pixel, whatever the disparities.
#pragma once

#include "device/gpu/device.hpp"
#include "fused/zncc_wta/zncc_wta.hpp"

namespace stereopsis::zncc_wta {

inline bool cuda_runs_on(int capability) { return capability >= 80; }

// Whole disparities from 8-bit samples.
bool cuda_serves(const Parameters&, int bits, int disparities, bool wants_confidence);

std::size_t cuda_workspace_bytes(const Parameters&, Size);

// cuda_runs_on() and cuda_serves() are true, and `workspace` holds at least cuda_workspace_bytes().
void cuda(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
          gpu::Queue&);

}  // namespace stereopsis::zncc_wta
