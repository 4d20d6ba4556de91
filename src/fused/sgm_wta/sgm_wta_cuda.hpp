// Semi-global matching and selection as tuned CUDA kernels. The kernels need no volume of sums and, for rank, no volume
// of costs. The result equals that of sgm_wta.hpp, bit for bit. The portable kernels handle all cases that are not
// supported here. See docs/notes/sgm-on-cuda.md.
//
// Memory: 0.45 to 3 bytes per cell. A cell is a pixel and a disparity; the number of disparities is rounded up to 64,
// 128, 256, 512 or 1024.
//
// If this is too much memory, the image is processed in stripes of rows. The upward paths are followed first, from the
// last stripe to the second one, and their states are stored where they enter each stripe. Both passes then process the
// stripes from the first one on; the downward paths continue from the states in which they left the previous stripe.
#pragma once

#include "device/gpu/device.hpp"
#include "fused/sgm_wta/sgm_wta.hpp"

namespace stereopsis::sgm_wta {

// Returns whether the tuned kernels run on a device of that compute capability.
inline bool cuda_runs_on(int capability) { return capability >= 80; }
inline bool cuda_runs_on(const gpu::Queue& queue) { return cuda_runs_on(queue.cuda_capability()); }

// Returns whether the kernels support the parameters: up to 1024 disparities, path costs of 11 bits, stored states of 8
// bits, and sums of 12 bits.
template <class Kind>
bool cuda_serves(const Parameters&, const Kind&, int disparities);

// Returns whether to use the compact layout, which needs as little memory as possible but may be slower. The compact
// layout is always used on devices where more memory was not faster.
bool cuda_is_compact(int capability, int stripe_rows);
template <class Kind>
std::size_t cuda_workspace_bytes(const Parameters&, const Kind&, Size, int disparities, bool compact,
                                 int stripe_rows = 0);

// Requires that cuda_runs_on() and cuda_serves() return true, and that `workspace` holds at least
// cuda_workspace_bytes(). The workspace has the compact layout if the input requests stripes.
template <class Kind>
void cuda(const Parameters&, const Input<Kind, gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
          gpu::Queue&);

}  // namespace stereopsis::sgm_wta
