// Measured again by confidence: the checks of a method become evidence instead of verdicts. A filled or repaired pixel
// that the confidence trusts is matched once more, near its disparity. If the images agree with the disparity, the pixel
// counts as measured. A measured pixel that the confidence does not trust no longer counts as measured. The stage is our
// own.
//
// C(k) = Σ Hamming(c_L(x + i, y + j), c_R(x + i − b − k, y + j)) over |i|, |j| ≤ 2 compares the census words c of both
// views around a pixel p = (x, y) with the disparity D, where b = ⌊D + ½⌋. Coordinates beyond the image are clamped to
// the image. k* is the lowest k in −1…1 with the least C(k) of −2…2, and
//
//   D' = b + k* + (C(k* − 1) − C(k* + 1)) / (2 (max(C(k* − 1), C(k* + 1)) − C(k*)))
//
// A pixel with a disparity, |D| < 32768, and a confidence of at least `confidence` that is not measured becomes
// measured, with D', if such a k* exists, the maximum is larger than C(k*), b + k* is in the search range, the right
// pixels x − b − 2 to x − b + 2 are in the image, and |D' − D| ≤ tolerance. The quotient and the sum are rounded to
// float. A measured pixel with a lower confidence keeps its disparity, and is marked as filled. The confidence remains
// that of the disparity before the stage.
//
// Input: census words of 9×7 pixels of both views, confidence. Input and output, in place: float disparity (NaN where
// invalid) and validity.
// Required input: 2 pixels on each side for the window, and `census_reach` more columns and rows for the census words;
// in the right view also the search range.
// Cost: 125 population counts of 64 bits for each pixel that is matched again.
#pragma once

#include <cmath>

#include "stages/shared/stage.hpp"

namespace stereopsis::remeasure {

inline constexpr int reach = 2, span = 2;  // half the width of the window, and the largest k
inline constexpr Size census_reach{4, 3};  // half the size of the window of the census words

struct Parameters {
  static constexpr const char* stage = "remeasure";
  double confidence = 0.6;
  double tolerance = 1;

  static void describe(auto& p, auto&& visit) {
    visit("confidence", p.confidence, between(0, 1), "lowest confidence of a measured pixel");
    visit("tolerance", p.tolerance, between(0, 3).in("pixels"),
          "largest difference of the disparity that is measured again from the filled one");
  }
};

inline Rect required_input(const Parameters&, const Rect& output) {
  return grow(output, reach + census_reach.width, reach + census_reach.height);
}

template <template <class> class View>
struct InputOf {
  View<const std::uint64_t> left, right;  // census words
  View<const float> confidence;
};
using Input = InputOf<ImageView>;

// Returns whether a pixel that is not measured may be matched again.
inline bool may_match(float disparity, float confidence, float least) {
  return std::abs(disparity) < 32768 && confidence >= least;
}

void oracle(const Parameters&, const Input&, DisparityRange, ImageView<float> disparity,
            ImageView<std::uint8_t> validity);

void cpu(const Parameters&, const Input&, DisparityRange, ImageView<float> disparity, ImageView<std::uint8_t> validity,
         Threads&);

void gpu(const Parameters&, const InputOf<gpu::View>&, DisparityRange, gpu::View<float> disparity,
         gpu::View<std::uint8_t> validity, gpu::Queue&);

}  // namespace stereopsis::remeasure
