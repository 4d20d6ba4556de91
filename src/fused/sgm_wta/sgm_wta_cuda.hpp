// Semi-global matching and selection on CUDA devices, tuned: no volume of sums, and for rank none of costs. Its meaning
// is that of sgm_wta.hpp, bit for bit; what it does not do is left to portable kernels. See docs/notes/sgm-on-cuda.md.
//
// Memory: 0.45 to 3 bytes a cell (a pixel and disparity, disparities rounded up to 64, 128 or 256).
#pragma once

#include "device/gpu/device.hpp"
#include "fused/sgm_wta/sgm_wta.hpp"

namespace stereopsis::sgm_wta {

// Whether the tuned kernels run on a device of that compute capability.
inline bool cuda_runs_on(int capability) { return capability >= 80; }
inline bool cuda_runs_on(const gpu::Queue& queue) { return cuda_runs_on(queue.cuda_capability()); }

// Costs of 8 bits that are there already, in the place of words: a channel of the left view's for each disparity. Those above
// the largest count as that.
struct GivenCosts {
  using Word = std::uint8_t;
  int largest = 255;

  int max_cost() const { return largest; }
};

// Whether they can do this: up to 256 disparities; path costs of 11 bits, kept states of 8, sums of 12.
template <class Kind>
bool cuda_serves(const Parameters&, const Kind&, int disparities);

// Compact: as little as it can do with, which may take longer. Without being asked for before compute capability 9.0, where
// more memory was not seen to be faster.
inline bool cuda_is_compact(int capability, int stripe_rows) { return capability < 90 || stripe_rows != 0; }
template <class Kind>
std::size_t cuda_workspace_bytes(const Parameters&, const Kind&, Size, int disparities, bool compact);

// cuda_runs_on() and cuda_serves() are true, and `workspace` holds at least cuda_workspace_bytes(). If the input asks for
// stripes, it is one.
template <class Kind>
void cuda(const Parameters&, const Input<Kind, gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
          gpu::Queue&);

}  // namespace stereopsis::sgm_wta
