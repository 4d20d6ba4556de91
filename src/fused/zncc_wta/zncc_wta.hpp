// Zero-mean normalised cross-correlation and selection of both views in one run over the image: stages/zncc and stages/wta
// composed, from the same correlations, without a volume. Its meaning is the composition of their oracles (zncc::oracle,
// wta::oracle, zncc::mark_flat_oracle), bit for bit.
//
// On the CPU each thread has a band of rows. It keeps, for each column and disparity, the sum of products over the rows of
// the window: a new row costs two products a cell, whatever the window. Along a row the window's sum runs on the same
// way, and a pixel's costs are selected from at once. Sums are integers of 32 bits for samples of 8 bits, where one
// instruction adds two products; else doubles.
// Memory: 4 or 8 bytes a column and disparity for each thread.
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

// The indices of disparities have 16 bits.
inline void check(int disparities) {
  if (disparities > 65535)
    throw Error(ErrorCategory::unsupported,
                text("correlation can't search ", disparities, " disparities; it takes up to 65535, so search fewer"));
}

std::size_t workspace_bytes(const Parameters&, Size, int bits, int disparities, int threads);

// `workspace` holds at least workspace_bytes() and starts at a multiple of 64.
void cpu(const Parameters&, const Input<>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// The portable kernels, band after band of rows. `workspace` holds at least gpu_workspace_bytes().
std::size_t gpu_workspace_bytes(const Parameters&, Size, int bits, int disparities);
void gpu(const Parameters&, const Input<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::zncc_wta
