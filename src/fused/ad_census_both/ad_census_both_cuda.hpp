// AD-Census costs of both views, averaged over cross-based regions, in one run of tuned CUDA kernels. The result equals
// stages/ad_census and stages/cross_aggregation with support = both, for the left view and for the right one, bit for
// bit.
//
// A cell of the right view is the left view's cell of the same two pixels, C_R(x, −d) = C_L(x + d, d): the cost is
// symmetric, and the region's arms are the intersection of both pixels' arms. These end at the borders of both images.
// The region of a cell whose pixels are both inside therefore contains only such cells, in every iteration, and all
// these means are the same in both views. Other cells differ, because the nearest pixel replaces one outside: in the
// left view those with x − d < 0, in the right view those with x + d ≥ width. The left view's volume is extended to the
// right by the range, with these cells of the right view: column x + d, where the last left pixel replaces the one
// outside. No region of a cell that only one view has contains a cell that only the other view has. One run over that
// volume therefore computes both views' means, and the right view's are read from it along diagonals.
//
// Cost: that of one view with width + max d columns instead of that of two views, plus a copy of the volume.
#pragma once

#include "device/gpu/device.hpp"
#include "stages/ad_census/ad_census.hpp"
#include "stages/cross_aggregation/cross_aggregation.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::ad_census_both {

struct Parameters {
  ad_census::Parameters cost;
  cross_aggregation::Parameters aggregation;
};

// Returns the number of columns that only the right view's cells have.
inline int columns_beyond(const DisparityRange& range) { return std::max(range.max(), 0); }

// `range` is the left view's.
bool cuda_serves(const Parameters&, Size, const DisparityRange&, int longest_arm, int cuda_capability);
std::size_t cuda_scratch_bytes(Size, const DisparityRange&, int cuda_capability);
void cuda(const Parameters&, const ad_census::InputOf<gpu::View>&, const cross_aggregation::ArmsOf<gpu::View>&,
          int min_disparity, gpu::Volume<std::uint8_t> left_costs, gpu::Volume<std::uint8_t> right_costs,
          gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::ad_census_both
