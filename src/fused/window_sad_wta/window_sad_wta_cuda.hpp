// Window matching and selection as tuned CUDA kernels, without a volume. The result equals that of window_sad_wta.hpp,
// bit for bit. The portable kernels handle all cases that are not supported here: masks, sub-pixel disparities,
// uniqueness, other outputs.
//
// A kernel that keeps column sums in registers supports windows 3 to 11 columns wide whose sums fit in 16 bits. The
// kernel supports images of at least 32 columns and up to 512 disparities, on compute capability 8.0 or later. For all
// other windows, a kernel shares the column sums within a block. The kernel supports images of at least 24 columns, on
// 9.0 or later, if a block may have 168 KiB of shared memory (12.0 has 99).
#pragma once

#include "device/gpu/device.hpp"
#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "graph/step.hpp"

namespace stereopsis::window_sad_wta {

// Returns whether the kernels support the input. Views need no memory for this call. An output counts as requested if
// it has a size.
bool cuda_serves(const Target&, const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&);

// Requires that cuda_serves() returns true.
void cuda(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::window_sad_wta
