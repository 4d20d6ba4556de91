// AD-Census costs of both views, averaged over cross-based regions, in one run of tuned CUDA kernels. The result equals
// stages/ad_census and stages/cross_aggregation with support = both, for the left view and for the right one, bit for
// bit.
//
// A cell of the right view equals the cell of the left view for the same two pixels, C_R(x, −d) = C_L(x + d, d). The
// reason is that the cost is symmetric, and that the arms of the region are the intersection of the arms of both
// pixels. The arms end at the borders of both images. If both pixels of a cell are inside the images, the region of the
// cell contains only such cells, in every iteration. The means of such cells are therefore the same in both views.
// Other cells differ, because a pixel outside the image is replaced by the nearest pixel inside. In the left view,
// these are the cells with x − d < 0; in the right view, the cells with x + d ≥ width. The volume of the left view is
// therefore extended to the right by the search range. The additional columns x + d hold the cells of the right view
// whose left pixel is replaced by the last pixel of the row. The region of a cell that belongs to one view only does
// not contain a cell that belongs to the other view only. One run over the extended volume therefore computes the means
// of both views. The means of the right view are read from the volume along diagonals.
//
// Cost: the cost of one view with width + max d columns, instead of that of two views, plus a copy of the volume.
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

// Returns the number of columns that only the cells of the right view have.
inline int columns_beyond(const DisparityRange& range) { return std::max(range.max(), 0); }

// `range` is the search range of the left view.
bool cuda_serves(const Parameters&, Size, const DisparityRange&, int longest_arm, int cuda_capability);
std::size_t cuda_scratch_bytes(Size, const DisparityRange&, int cuda_capability);
void cuda(const Parameters&, const ad_census::InputOf<gpu::View>&, const cross_aggregation::ArmsOf<gpu::View>&,
          int min_disparity, gpu::Volume<std::uint8_t> left_costs, gpu::Volume<std::uint8_t> right_costs,
          gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::ad_census_both
