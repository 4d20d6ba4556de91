// Interpolation by kind (Mei et al. 2011, section 2.4): an invalid pixel looks for the nearest valid one in 16
// directions. An occluded pixel takes the lowest of their disparities, for it belongs to the background; a mismatched
// one that of the pixel whose colour is nearest to its own: the sum of the differences of the channels; of equals the
// first direction's.
//
// The paper does not say which pixels lie in a direction. Here the n-th are, from the pixel, (n, 0), (n, ⌊n/2⌋), (n, n)
// and (⌊n/2⌋, n), n = 1, 2, …, then those four turned by 90°, 180° and 270°. A pixel that finds nothing stays invalid,
// as do masked ones and those outside the region of interest. What is filled is valid and marked filled.
//
// Input: 8-bit image, 1 or 3 channels, kinds (stages/outliers): 1 is occluded, everything else mismatched; float
// disparity, NaN where invalid. Output: float disparity, not in place. Validity: in place.
// Required input: the whole image. Cost: reads the disparity once, and in the gaps on the way to what is valid.
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

// Where two steps lead; halves are rounded toward the pixel.
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
    throw Error(ErrorCategory::call,
                "an image can't be interpolated in place; give interpolation an output of its own");
}

void oracle(const Parameters&, const Input&, ImageView<float> filled, ImageView<std::uint8_t> validity);
void cpu(const Parameters&, const Input&, ImageView<float> filled, ImageView<std::uint8_t> validity, Threads&);
void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::View<float> filled, gpu::View<std::uint8_t> validity,
         gpu::Queue&);

}  // namespace stereopsis::interpolation
