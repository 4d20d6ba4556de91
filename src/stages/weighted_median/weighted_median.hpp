// Weighted median of filled pixels (Rhemann et al. 2011, section 3.1), which removes the streaks of a row-wise fill:
//
//   M(p) = the lowest valid disparity v of the window around p with 2 Σ_{q : D(q) ≤ v} W(p, q) ≥ Σ_q W(p, q)
//   W(p, q) = exp(−|p − q|² / σs²) · exp(−|I_p − I_q|² / σc²)
//
// q runs over the valid pixels of the (2r+1)² window that lie in the image, filled ones included. Pixels that are not
// marked as filled keep their disparity, and −0 is read as +0.
//
// Weights are integers, so that sums do not depend on the order of additions. The exponentials of a distance in x or y,
// and of a colour difference, are tables in units of 1/65535, rounded to nearest. The weight is W = (⌊x · y / 2^16⌋ ·
// ⌊⌊red · green / 2^16⌋ · blue / 2^16⌋) / 2^16, rounded down, and at least 1.
//
// Input: disparity, NaN where invalid; validity; the 8-bit image with 1 or 3 channels (a single channel counts three
// times). Output: float disparity, not in place.
// Required input: r pixels on each side.
// Cost: the map is read once. For each filled pixel, there is a pass over its window for each bit in which the
// disparities of the window differ.
#pragma once

#include <array>
#include <cmath>

#include "stages/shared/stage.hpp"

namespace stereopsis::weighted_median {

inline constexpr int largest_radius = 24;

struct Parameters {
  static constexpr const char* stage = "weighted_median";
  int radius = 9;
  double sigma_space = 9;
  double sigma_colour = 25.5;

  static void describe(auto& p, auto&& visit) {
    visit("radius", p.radius, between(1, largest_radius).in("pixels").planned(), "radius of the square window");
    visit("sigma_space", p.sigma_space, between(0.5, 1000).in("pixels"), "distance at which the weight falls to 1/e");
    visit("sigma_color", p.sigma_colour, between(1, 1000).in("8-bit intensities"),
          "colour difference at which the weight falls to 1/e");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.radius, p.radius); }

// The tables of the weights, in units of 1/65535.
struct Weights {
  static constexpr bool is_argument = true;
  std::array<std::uint16_t, 256> colour;
  std::array<std::uint16_t, 32> distance;
};
inline Weights weights(const Parameters& p) {
  const auto weight = [](double v, double sigma) {
    return static_cast<std::uint16_t>(std::nearbyint(65535 * std::exp(-v * v / (sigma * sigma))));
  };
  Weights w{};
  for (int i = 0; i < 256; ++i) w.colour[i] = weight(i, p.sigma_colour);
  for (int i = 0; i <= p.radius; ++i) w.distance[i] = weight(i, p.sigma_space);
  return w;
}

inline std::uint32_t weight_of(std::uint32_t x, std::uint32_t y, std::uint32_t red, std::uint32_t green,
                               std::uint32_t blue) {
  const std::uint32_t space = x * y >> 16, colour = (red * green >> 16) * blue >> 16;
  return std::max<std::uint32_t>(space * colour >> 16, 1);
}

template <class In, class Out>
void check_not_in_place(const In& disparity, const Out& filtered) {
  if (same_start(disparity, filtered))
    throw Error(ErrorCategory::call,
                "the weighted median cannot filter an image in place; pass a separate output image");
}

template <template <class> class View>
struct InputOf {
  View<const float> disparity;
  View<const std::uint8_t> validity;
  View<const std::uint8_t> image;
};
using Input = InputOf<ImageView>;

void oracle(const Parameters&, const Input&, ImageView<float> filtered);
void cpu(const Parameters&, const Input&, ImageView<float> filtered, Threads&);
void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::View<float> filtered, gpu::Queue&);

}  // namespace stereopsis::weighted_median
