// Left-right check (Fua 1993; Hirschmüller 2008, section 2.3). The disparity d of the left pixel (x, y) is kept if the
// right view agrees at the pixel to which d leads,
//
//   x' = x − ⌊d + 0.5⌋ lies inside the image, D_right(x', y) is valid and |d − D_right(x', y)| ≤ threshold
//
// with all operations rounded to float. A pixel that fails becomes invalid, with the reason left_right. With compare =
// same, both maps are compared at the same pixel (x, y), x' = x, as in Syed's report. This comparison does not verify a
// match, but detects where the maps change slowly.
//
// Input and output, in place: float disparity (NaN where invalid) and validity of the left view. Input: float disparity
// of the right view, with d = x_left − x_right there too, of the same size.
// Required input: in the left view the pixel alone; in the right view the range of disparities to its left.
// Cost: one gathered read per pixel; reads and writes disparity and validity once.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::left_right {

// The right pixel with which a left pixel is compared.
enum class Compare { matched, same };
constexpr auto names_of(Compare) {
  return std::array{std::pair{Compare::matched, "matched"}, std::pair{Compare::same, "same"}};
}

struct Parameters {
  static constexpr const char* stage = "left_right";
  double threshold = 1;
  Compare compare = Compare::matched;

  static void describe(auto& p, auto&& visit) {
    visit("threshold", p.threshold, between(0, 100).in("pixels"),
          "largest difference of the disparities of the two views");
    visit("compare", p.compare, any,
          "right pixel to compare with: the one that the disparity points to, or the one with the same coordinates");
  }
};

template <class Right, class Left>
void check_sizes(const Right& right, const Left& disparity) {
  if (right.size() != disparity.size())
    throw Error(ErrorCategory::call, text("the left-right check has a right disparity map of ", right.width, "×",
                                          right.height, " for a left disparity map of ", disparity.width, "×",
                                          disparity.height, "; both must have the same size"));
}

void oracle(const Parameters&, ImageView<const float> right, ImageView<float> disparity,
            ImageView<std::uint8_t> validity);

void cpu(const Parameters&, ImageView<const float> right, ImageView<float> disparity, ImageView<std::uint8_t> validity,
         Threads&);

void gpu(const Parameters&, gpu::View<const float> right, gpu::View<float> disparity, gpu::View<std::uint8_t> validity,
         gpu::Queue&);

}  // namespace stereopsis::left_right
