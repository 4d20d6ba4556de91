// Zero-mean normalised cross-correlation and selection in both views, in one run over the image and without a volume.
// The run replaces stages/zncc and stages/wta, and uses each correlation for both views. The result equals the
// composition of the oracles (zncc::oracle, wta::oracle, zncc::mark_flat_oracle), bit for bit.
//
// On the CPU, each thread processes a band of rows. For each column and disparity, the thread keeps the sum of products
// over the rows of the window. A new row costs two products per cell, independently of the window size. The sum over
// the window moves along a row in the same way, and the disparity of a pixel is selected from its costs at once. Sums
// are 32-bit integers for 8-bit samples, for which one instruction adds two products, and doubles otherwise. Memory per
// thread: 4 or 8 bytes per column and disparity.
#pragma once

#include <cstddef>
#include <span>

#include "stages/wta/wta.hpp"
#include "stages/zncc/zncc.hpp"

namespace stereopsis::zncc_wta {

struct Parameters {
  zncc::Parameters zncc;
  wta::Parameters select;
};

template <template <class> class View = ImageView>
struct Input {
  View<const std::int16_t> left, right;  // samples
  int bits = 8;                          // bits of the samples; with 8 bits, their magnitude is at most 128
  wta::InputOf<View> select;
  int disparities = 1;
};

// Throws an Error if an index of a disparity exceeds 16 bits.
inline void check(int disparities) {
  if (disparities > 65535)
    throw Error(ErrorCategory::unsupported,
                text("the correlation does not support ", disparities, " disparities; use at most 65535"));
}

std::size_t workspace_bytes(const Parameters&, Size, int bits, int disparities, int threads);

// `workspace` has at least workspace_bytes(), and starts at a multiple of 64 bytes.
void cpu(const Parameters&, const Input<>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// Runs the portable kernels on one band of rows after the other. `workspace` holds at least gpu_workspace_bytes().
std::size_t gpu_workspace_bytes(const Parameters&, Size, int disparities);
void gpu(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::zncc_wta
