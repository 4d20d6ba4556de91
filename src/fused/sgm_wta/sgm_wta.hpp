// Semi-global matching and selection in one run over the image: stages/cost, stages/sgm and stages/wta composed,
// without a volume per path. Its meaning is the composition of their oracles, bit for bit.
//
// The sums of half of the paths, those that come from the left and from above, make one sweep down and are
// stored in 16 bits; the other half is added in a sweep up, which selects each pixel at once.
// Memory: 2 bytes a cell (a pixel and disparity, disparities rounded up to a multiple of 32) and the ends of
// the paths. Traffic: one write and one read of that volume.
#pragma once

#include <cstddef>
#include <span>

#include "stages/sgm/sgm.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::sgm_wta {

struct Parameters {
  sgm::Parameters sgm;
  wta::Parameters select;
};

template <class Kind, template <class> class View = ImageView>
struct Input {
  cost::Source<Kind, View> source;
  View<const std::uint8_t> guide;  // empty unless P2 is adaptive
  wta::InputOf<View> select;
  int disparities = 1;
};

template <class Kind>
std::size_t workspace_bytes(const Parameters&, const Kind&, Size, int disparities, int threads);

// `workspace` holds at least workspace_bytes() and starts at a multiple of 64.
template <class Kind>
void cpu(const Parameters&, const Input<Kind>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// The portable kernels of both stages, one after the other. `workspace` holds at least gpu_workspace_bytes().
std::size_t gpu_workspace_bytes(Size, int disparities);
template <class Kind>
void gpu(const Parameters&, const Input<Kind, gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::sgm_wta
