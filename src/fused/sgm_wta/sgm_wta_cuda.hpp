// Semi-global matching and selection as tuned CUDA kernels, without a volume of sums, and for rank without one of
// costs. The result equals that of sgm_wta.hpp, bit for bit; the portable kernels handle everything else. See
// docs/notes/sgm-on-cuda.md.
//
// Memory: 0.45 to 3 bytes per cell (a pixel and disparity, disparities rounded up to 64, 128 or 256).
#pragma once

#include "device/gpu/device.hpp"
#include "fused/sgm_wta/sgm_wta.hpp"

namespace stereopsis::sgm_wta {

// Returns whether the tuned kernels run on a device of that compute capability.
inline bool cuda_runs_on(int capability) { return capability >= 80; }
inline bool cuda_runs_on(const gpu::Queue& queue) { return cuda_runs_on(queue.cuda_capability()); }

// Given 8-bit costs in place of words: the left view has one channel per disparity. Larger costs are clamped to
// `largest`.
struct GivenCosts {
  using Word = std::uint8_t;
  int largest = 255;

  int max_cost() const { return largest; }
};

// Returns whether the kernels support this: up to 256 disparities; path costs of 11 bits, kept states of 8, sums of 12.
template <class Kind>
bool cuda_serves(const Parameters&, const Kind&, int disparities);

// Returns whether to use the compact layout, with as little memory as possible, which may be slower. It is always used
// on devices where more memory was not faster.
bool cuda_is_compact(int capability, int stripe_rows);
template <class Kind>
std::size_t cuda_workspace_bytes(const Parameters&, const Kind&, Size, int disparities, bool compact);

// Requires that cuda_runs_on() and cuda_serves() are true, and that `workspace` holds at least cuda_workspace_bytes().
// The workspace is the compact one if the input requests stripes.
template <class Kind>
void cuda(const Parameters&, const Input<Kind, gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
          gpu::Queue&);

}  // namespace stereopsis::sgm_wta
