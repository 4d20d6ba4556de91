// Adjustment at depth discontinuities (Mei et al. 2011, section 2.4). A pixel p on an edge of the disparity image has
// neighbours p1 and p2 on both sides of the edge. The pixel p takes the disparity of p1 or p2 if that disparity has a
// smaller cost:
//
//   D(p) = D(p_i), p_i = argmin C(p_i, D(p_i)), if C(p_i, D(p_i)) < C(p, D(p)); p1 wins ties
//
// The paper defines neither the edges nor p1 and p2. In this stage, p lies on an edge along a row if its disparity
// differs by more than `edge` from that of its left or right neighbour. The left neighbour is p1, and the right
// neighbour is p2. All pixels read the same, unchanged map. Li's public program (AD-Census, 2020) compares the same
// costs and pixels, but uses a Sobel filter for the edges.
//
// The cost of a disparity is that of the nearest integer disparity. A disparity outside the search range has no cost,
// and neither does a neighbour that is invalid or outside the image.
//
// Input: 16-bit costs, float disparity, NaN where invalid. Output: float disparity, not in place.
// Required input: 1 pixel to the left and right.
// Cost: 3 reads of the map; at edges 3 reads of the costs.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::discontinuity {

struct Parameters {
  static constexpr const char* stage = "discontinuity";
  double edge = 1;

  static void describe(auto& p, auto&& visit) {
    visit("edge", p.edge, between(0, 1000).in("pixels"), "difference between neighbours above which there is an edge");
  }
};

inline Rect required_input(const Parameters&, const Rect& output) { return grow(output, 1, 0); }

template <class In, class Out>
void check_not_in_place(const In& disparity, const Out& adjusted) {
  if (same_start(disparity, adjusted))
    throw Error(ErrorCategory::call, "discontinuities cannot be adjusted in place; pass a separate output image");
}

void oracle(const Parameters&, VolumeView<const std::uint16_t> costs, int min_disparity,
            ImageView<const float> disparity, ImageView<float> adjusted);
void cpu(const Parameters&, VolumeView<const std::uint16_t> costs, int min_disparity, ImageView<const float> disparity,
         ImageView<float> adjusted, Threads&);
void gpu(const Parameters&, gpu::Volume<const std::uint16_t> costs, int min_disparity, gpu::View<const float> disparity,
         gpu::View<float> adjusted, gpu::Queue&);

}  // namespace stereopsis::discontinuity
