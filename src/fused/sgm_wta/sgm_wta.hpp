// Semi-global matching and selection in one run over the image. The run replaces stages/cost, stages/sgm and
// stages/wta, without a volume per path. On the CPU, it also replaces stages/sgm and stages/wta for a volume of 8-bit
// costs from any stage. The result equals the composition of the oracles of these stages, bit for bit.
//
// A downward sweep sums half of the paths, those from the left and from above, and stores the sums in 16 bits, or in 8
// bits if there are 4 paths and P2 is at most 127. An upward sweep adds the other half, and selects the disparity of
// each pixel at once. Memory: 1 or 2 bytes per cell, plus the states of the paths. A cell is a pixel and a disparity;
// the number of disparities is rounded up to 32 or to a multiple of 64. Traffic: one write and one read of the volume
// of sums.
//
// If the sums need too much memory, the image is processed in stripes of rows. A first downward sweep stores the states
// of the paths where they enter each stripe. The stripes are then processed from the lowest to the highest. The
// downward sweep of the stripe is repeated from the stored states and stores sums, and the upward sweep continues
// through the stripe. The result has the same bits. Processing takes 1.5 times as long, and needs the sums of one
// stripe and, for each stripe, the states of three paths per column. The portable kernels store
// fewer states if there are more than 16 stripes: about twice the square root of the number of stripes, at the cost of
// one more downward sweep. The kernels store the state of one path per column if there are 4 paths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "graph/word_cost.hpp"
#include "stages/sgm/sgm.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::sgm_wta {

struct Parameters {
  sgm::Parameters sgm;
  wta::Parameters select;
  WordCost cost = {};  // the matching cost of two words
};

template <class Kind, template <class> class View = ImageView>
struct Input {
  cost::Source<Kind, View> source;
  View<const std::uint8_t> guide;  // guide image; empty unless P2 is adaptive
  wta::InputOf<View> select;
  int disparities = 1;
  int stripe_rows = 0;  // 0 means that the whole image is processed at once
  sgm::EdgesOf<View> edges = {};
};

// Division of the image into stripes of rows; the last stripe may be shorter.
struct Stripes {
  Stripes(int height_, int stripe_rows)
      : height(height_), rows(stripe_rows == 0 ? height_ : std::min(stripe_rows, height_)) {}
  int count() const { return (height + rows - 1) / rows; }
  int first_row(int i) const { return i * rows; }
  int rows_of(int i) const { return std::min(rows, height - i * rows); }

  int height, rows;
};

template <class Kind>
std::size_t workspace_bytes(const Parameters&, const Kind&, Size, int disparities, int threads, int stripe_rows = 0);

// `workspace` has at least workspace_bytes(), and starts at a multiple of 64 bytes.
template <class Kind>
void cpu(const Parameters&, const Input<Kind>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// Runs the portable kernels of the stages, one after the other: from a volume of costs for a whole image, which is
// faster, and from features in stripes, which takes less memory. `workspace` holds at least gpu_workspace_bytes().
std::size_t gpu_workspace_bytes(const Parameters&, Size, int disparities, int stripe_rows = 0);
template <class Kind>
void gpu(const Parameters&, const Input<Kind, gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
         gpu::Queue&);

}  // namespace stereopsis::sgm_wta
