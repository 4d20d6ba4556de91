// Median filter of a disparity image (Tukey 1977; Banz et al. 2011 use the 3×3 filter as a refinement):
//
//   M(p) = the ⌈n/2⌉-th smallest of the n valid disparities in the W×W window around p
//
// so that the lower of two middle values is taken. A pixel that is replicated at the border counts as often as it
// occurs. An invalid centre remains invalid. The value −0 is read as +0, and infinities are treated like other numbers.
//
// Input: float disparity, NaN where invalid. Output: the same, in another image.
// Required input: (W−1)/2 pixels on each side; borders replicate.
// Cost: 36 minima and maxima per pixel for 3×3, 202 for 5×5, or about 124 if neighbours share sorted columns; reads and
// writes each pixel once.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::median {

struct Parameters {
  static constexpr const char* stage = "median";
  int window = 3;

  static void describe(auto& p, auto&& visit) {
    visit("window", p.window, odd(3, 5).in("pixels"), "side of the square window");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.window / 2, p.window / 2); }

template <class In, class Out>
void check_not_in_place(const In& disparity, const Out& filtered) {
  if (same_start(disparity, filtered))
    throw Error(ErrorCategory::call, "the median cannot filter an image in place; pass a separate output image");
}

void oracle(const Parameters&, ImageView<const float> disparity, ImageView<float> filtered);

void cpu(const Parameters&, ImageView<const float> disparity, ImageView<float> filtered, Threads&);

void gpu(const Parameters&, gpu::View<const float> disparity, gpu::View<float> filtered, gpu::Queue&);

}  // namespace stereopsis::median
