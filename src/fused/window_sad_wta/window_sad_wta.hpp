// Window matching and selection in one run over the image: stages/window_sad and stages/wta composed, without a volume.
// The result equals the composition of their oracles, bit for bit.
//
// On the CPU, each thread takes a band of rows and keeps a row of column sums, 2 bytes per column and disparity. The
// row stays in the cache, and the time does not grow with the window.
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
  cost::Weighting weighting = {};  // weights of the colours
};

template <template <class> class View>
struct Input {
  window_sad::Source<View> source;
  wta::InputOf<View> select;
  int disparities = 1;
};

std::size_t workspace_bytes(Size, int disparities, int threads);

// `workspace` holds at least workspace_bytes() and starts at a multiple of 64 bytes.
void cpu(const Parameters&, const Input<ImageView>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// Runs the portable kernels of both stages one after the other, on bands of rows whose volume fits in `workspace`. It
// must hold at least one row; gpu_workspace_bytes() is enough to be fast.
// `rarely`: another kernel usually does the work, so that little memory is reserved.
std::size_t gpu_workspace_bytes(Size, int disparities, bool rarely = false);
void gpu(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::window_sad_wta
