// AD-Census costs of both views, averaged over cross-based regions, at once: stages/ad_census and stages/cross_aggregation
// with support = both, for the left view and again for the right one, bit for bit, on CUDA devices, tuned.
//
// A cell of the right view is the left view's cell of the same two pixels, C_R(x, −d) = C_L(x + d, d): the cost is
// symmetric, and the region's arms are what both pixels' arms have in common. These end at the borders of both images, so
// that the region of a cell whose pixels are both inside has such cells alone, in every iteration: all these means are the
// same in both views. Others are not, as the nearest pixel stands in for one outside: the left view's with x − d < 0, and
// the right view's with x + d ≥ width. The left view's volume goes on to the right by the range, with the cells of the
// latter: column x + d, where the last left pixel stands in. No region of one view's cells has cells of the other's alone.
// So one run over that volume makes both views' means, and the right view's are read from it along diagonals.
//
// Cost: that of one view with width + max d columns instead of two, and a copy of the volume.
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

// Columns of the right view's cells alone.
inline int columns_beyond(const DisparityRange& range) { return std::max(range.max(), 0); }

// Of the left view, `range` is.
bool cuda_serves(const Parameters&, Size, const DisparityRange&, int longest_arm, int cuda_capability);
std::size_t cuda_scratch_bytes(Size, const DisparityRange&);
void cuda(const Parameters&, const ad_census::InputOf<gpu::View>&, const cross_aggregation::ArmsOf<gpu::View>&,
          int min_disparity, gpu::Volume<std::uint8_t> left_costs, gpu::Volume<std::uint8_t> right_costs,
          gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::ad_census_both
