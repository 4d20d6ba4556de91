// Semi-global matching and selection in one run over the image: stages/cost, stages/sgm and stages/wta composed,
// without a volume per path. The result equals the composition of their oracles, bit for bit.
//
// A downward sweep sums half of the paths, those that come from the left and from above, and stores the sums in 16
// bits. An upward sweep adds the other half and selects each pixel at once. Memory: 2 bytes per cell (a pixel and
// disparity, disparities rounded up to 32 or a multiple of 64) and the ends of the paths. Traffic: one write and one
// read of that volume.
//
// If the sums need too much memory, the image is processed in stripes of rows. A first downward sweep stores the ends
// of the paths where they enter each stripe. Then, from the lowest stripe to the highest, the downward sweep of the
// stripe is repeated from there with its sums, and the upward sweep continues through it. The result has the same bits,
// takes half as long again, and needs the sums of one stripe and the ends of three paths per column for each stripe.
// The portable kernels, if there are more than 16 stripes, store the ends of about twice the square root of their
// number, at the cost of one more downward sweep; with 4 paths, they store the ends of one path per column.
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
  WordCost cost = {};  // the cost of two words
};

template <class Kind, template <class> class View = ImageView>
struct Input {
  cost::Source<Kind, View> source;
  View<const std::uint8_t> guide;  // empty unless P2 is adaptive
  wta::InputOf<View> select;
  int disparities = 1;
  int stripe_rows = 0;  // 0: the whole image at once
  sgm::EdgesOf<View> edges = {};
};

// The image as stripes of rows; the last one may be shorter.
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

// `workspace` holds at least workspace_bytes() and starts at a multiple of 64 bytes.
template <class Kind>
void cpu(const Parameters&, const Input<Kind>&, const wta::Output&, std::span<std::byte> workspace, Threads&);

// Runs the portable kernels of both stages one after the other. `workspace` holds at least gpu_workspace_bytes().
std::size_t gpu_workspace_bytes(const Parameters&, Size, int disparities, int stripe_rows = 0);
template <class Kind>
void gpu(const Parameters&, const Input<Kind, gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
         gpu::Queue&);

}  // namespace stereopsis::sgm_wta
