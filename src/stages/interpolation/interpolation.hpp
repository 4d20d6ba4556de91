// Interpolation by kind (Mei et al. 2011, section 2.4): an invalid pixel searches for the nearest valid pixel in each
// of 16 directions. An occluded pixel takes the lowest of their disparities, because it belongs to the background. A
// mismatched pixel takes the disparity of the pixel whose colour is most similar, by the sum of the differences of the
// channels; the first direction wins ties.
//
// The paper does not define which pixels lie in a direction. Here the n-th pixels are, relative to the pixel, (n, 0),
// (n, ⌊n/2⌋), (n, n) and (⌊n/2⌋, n), n = 1, 2, …, and those four rotated by 90°, 180° and 270°. A pixel without valid
// pixels in any direction stays invalid, as do masked pixels and those outside the region of interest. A filled pixel
// is valid and marked filled.
//
// Input: 8-bit image, 1 or 3 channels; kinds (stages/outliers): 1 is occluded, any other value mismatched; float
// disparity, NaN where invalid. Output: float disparity, not in place. Validity: in place.
// Required input: the whole image.
// Cost: reads the disparity once, and in gaps also the pixels on the way to valid ones.
#pragma once

#include <array>
#include <cstdint>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::interpolation {

struct Parameters {
  static constexpr const char* stage = "interpolation";
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P&, Visitor&&) {}

// The offset after two steps; halves are rounded towards the pixel.
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
