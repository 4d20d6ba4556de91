// Window matching and selection as tuned CUDA kernels, without a volume. The result equals that of window_sad_wta.hpp,
// bit for bit; the portable kernels handle everything else (masks, sub-pixel, uniqueness, other outputs).
//
// Windows 3 to 11 columns wide whose sums fit in 16 bits keep their column sums in registers, in images of at least 32
// columns and for up to 512 disparities, on compute capability 8.0 or later. All other windows share the column sums in
// a block, in images of at least 24 columns, from 9.0 on where a block may have that much shared memory (168 KiB; 12.0
// has 99).
#pragma once

#include "device/gpu/device.hpp"
#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "graph/step.hpp"

namespace stereopsis::window_sad_wta {

// Returns whether the kernels support the input. Views may have no memory yet. An output counts if it has a size.
bool cuda_serves(const Target&, const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&);

// Requires that cuda_serves() is true.
void cuda(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::window_sad_wta
