// Window matching and selection on CUDA devices, tuned: without a volume. Its meaning is that of window_sad_wta.hpp, bit for
// bit; what it does not do (masks, sub-pixel, uniqueness, other outputs) is left to the portable kernels.
//
// Windows 3 to 11 columns wide whose sums fit 16 bits keep their column sums in registers, in images of at least 32
// columns and for up to 512 disparities, on compute capability 8.0 or later. All others share them in a block, in
// images of at least 24 columns, from 9.0 on where a block may have that much (168 KiB; 12.0 has 99).
#pragma once

#include "device/gpu/device.hpp"
#include "fused/window_sad_wta/window_sad_wta.hpp"
#include "stages/stage_descriptor.hpp"

namespace stereopsis::window_sad_wta {

// Of views that may have no memory yet. Outputs count that have a size.
bool cuda_serves(const Target&, const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&);

// cuda_serves() is true.
void cuda(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::window_sad_wta
