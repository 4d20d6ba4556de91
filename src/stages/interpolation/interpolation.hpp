// Interpolation by kind (Mei et al. 2011, section 2.4): an invalid pixel searches for the nearest valid pixel in each
// of 16 directions. An occluded pixel gets the lowest of their disparities, because it belongs to the background. A
// mismatched pixel gets the disparity of the pixel with the most similar colour, compared by the sum of the differences
// of the channels. In a tie, the first direction wins.
//
// The paper does not define which pixels lie in a direction. In this stage, the n-th pixels are at the offsets (n, 0),
// (n, ⌊n/2⌋), (n, n) and (⌊n/2⌋, n), for n = 1, 2, …, and at these offsets rotated by 90°, 180° and 270°. A pixel
// without a valid pixel in any direction remains invalid, as do masked pixels and pixels outside the region of
// interest. A filled pixel is valid, and marked as filled.
//
// Input: 8-bit image, 1 or 3 channels; kinds (stages/outliers): 1 is occluded, any other value mismatched; float
// disparity, NaN where invalid. Output: float disparity, not in place. Validity: in place.
// Required input: the whole image.
// Cost: reads the disparity once, and in gaps also the pixels on the way to valid ones.
#pragma once

#include <array>

#include "stages/shared/stage.hpp"

namespace stereopsis::interpolation {

struct Parameters {
  static constexpr const char* stage = "interpolation";
};

// A direction, described by the offset after two steps. Halves are rounded towards the pixel.
struct Direction {
  int dx, dy;

  constexpr int x(int n) const { return n * dx / 2; }
  constexpr int y(int n) const { return n * dy / 2; }
};
inline constexpr std::array<Direction, 16> directions = {{{2, 0},
                                                          {2, 1},
                                                          {2, 2},
                                                          {1, 2},
                                                          {0, 2},
                                                          {-1, 2},
                                                          {-2, 2},
                                                          {-2, 1},
                                                          {-2, 0},
                                                          {-2, -1},
                                                          {-2, -2},
                                                          {-1, -2},
                                                          {0, -2},
                                                          {1, -2},
                                                          {2, -2},
                                                          {2, -1}}};

template <template <class> class View>
struct InputOf {
  View<const float> disparity;
  View<const std::uint8_t> image;
  View<const std::uint8_t> kinds;
};
using Input = InputOf<ImageView>;

template <template <class> class View>
void check_images(const InputOf<View>& in, const View<float>& filled) {
  if (same_start(in.disparity, filled))
    throw Error(ErrorCategory::call, "an image cannot be interpolated in place; pass a separate output image");
}

void oracle(const Parameters&, const Input&, ImageView<float> filled, ImageView<std::uint8_t> validity);
void cpu(const Parameters&, const Input&, ImageView<float> filled, ImageView<std::uint8_t> validity, Threads&);
void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::View<float> filled, gpu::View<std::uint8_t> validity,
         gpu::Queue&);

}  // namespace stereopsis::interpolation
