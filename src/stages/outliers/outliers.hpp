// Classification of outliers (Mei et al. 2011, section 2.4, after Hirschmüller 2008). An outlier is a left pixel p =
// (x, y) with the disparity d whose right pixel x' = x − ⌊d + ½⌋ does not agree,
//
//   x' outside the image, D_right(x', y) invalid, or |d − D_right(x', y)| > threshold
//
// becomes invalid: left_right. An outlier is occluded if its epipolar line does not meet the right disparity image: no
// right pixel x_r of the row has ⌊D_right(x_r, y) + ½⌋ = x − x_r. Otherwise, the outlier is mismatched. Pixels that
// were already invalid are classified in the same way. The paper's check requires equal integer disparities: threshold
// = 0.
//
// Input: the right view's disparity. Input and output, in place: float disparity (NaN where invalid) and validity.
// Output: 8-bit kinds.
// Required input: the row.
// Cost: that of the left-right check, plus one pass over the row of the right view.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::outliers {

enum Kind : std::uint8_t { reliable = 0, occluded = 1, mismatched = 2 };

struct Parameters {
  static constexpr const char* stage = "outliers";
  double threshold = 0;

  static void describe(auto& p, auto&& visit) {
    visit("threshold", p.threshold, between(0, 100).in("pixels"),
          "largest difference of the disparities of the two views");
  }
};

template <template <class> class View>
struct MapOf {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<std::uint8_t> kinds;
};
using Map = MapOf<ImageView>;

template <class Right, class Left>
void check_sizes(const Right& right, const Left& disparity) {
  if (right.size() != disparity.size())
    throw Error(ErrorCategory::call, text("outliers has a right disparity map of ", right.width, "×", right.height,
                                          " for a left disparity map of ", disparity.width, "×", disparity.height,
                                          "; both must have the same size"));
}

void oracle(const Parameters&, ImageView<const float> right, const Map&);
void cpu(const Parameters&, ImageView<const float> right, const Map&, Threads&);
void gpu(const Parameters&, gpu::View<const float> right, const MapOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::outliers
