// Window matching and selection in one run over the image, without a volume. The run replaces stages/window_sad and
// stages/wta. The result equals the composition of the oracles of these stages, bit for bit.
//
// On the CPU, each thread processes a band of rows, and keeps a row of column sums with 2 bytes per column and
// disparity. This row stays in the cache, and the time does not depend on the size of the window.
#pragma once

#include <cstddef>
#include <span>

#include "stages/window_sad/window_sad.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::window_sad_wta {

struct Parameters {
  window_sad::Window window;
  wta::Parameters select;
  cost::Weighting weighting = {};  // weights of the colour channels
};

template <template <class> class View>
struct Input {
  window_sad::Source<View> source;
  wta::InputOf<View> select;
  int disparities = 1;
};

std::size_t workspace_bytes(Size, int disparities, int threads);

// `workspace` has at least workspace_bytes(), and starts at a multiple of 64 bytes.
void cpu(const Parameters&, const Input<ImageView>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// Runs the portable kernels of both stages, one after the other, on bands of rows whose volume fits in `workspace`. The
// workspace must hold at least one row; with gpu_workspace_bytes(), matching is fast. `rarely` means that another
// kernel usually does the work, so that little memory is reserved.
std::size_t gpu_workspace_bytes(Size, int disparities, bool rarely = false);
void gpu(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::window_sad_wta
