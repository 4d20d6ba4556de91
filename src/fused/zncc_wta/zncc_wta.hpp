// Zero-mean normalised cross-correlation and selection of both views in one run over the image: stages/zncc and
// stages/wta composed, from the same correlations, without a volume. The result equals the composition of their oracles
// (zncc::oracle, wta::oracle, zncc::mark_flat_oracle), bit for bit.
//
// On the CPU, each thread has a band of rows. It keeps, for each column and disparity, the sum of products over the
// rows of the window: a new row costs two products per cell, independent of the window. The window's sum runs along a
// row in the same way, and a pixel is selected from its costs at once. Sums are 32-bit integers for 8-bit samples,
// where one instruction adds two products, else doubles. Memory: 4 or 8 bytes per column and disparity for each thread.
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
  int bits = 8;                          // 8: their magnitude is at most 128
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

// `workspace` holds at least workspace_bytes() and starts at a multiple of 64 bytes.
void cpu(const Parameters&, const Input<>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// Runs the portable kernels on one band of rows after the other. `workspace` holds at least gpu_workspace_bytes().
std::size_t gpu_workspace_bytes(const Parameters&, Size, int bits, int disparities);
void gpu(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::zncc_wta
