// The matching cost of two prepared colours (stages/hsv): the sum of the absolute differences of their four bytes. The
// bytes already contain the weights of the channels. The cost is the summand of equation 5.1 of Prehn 2007.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/parameters.hpp"

namespace stereopsis::cost {

enum class Space { hsv, rgb };
constexpr auto names_of(Space) { return std::array{std::pair{Space::hsv, "hsv"}, std::pair{Space::rgb, "rgb"}}; }

// The weights of three channels, in units of 1/256 of the largest weight.
struct Weighting {
  Space space = Space::hsv;
  std::array<int, 3> scales{256, 256, 256};

  // Returns an upper bound of the cost of two words of an image. (Each byte of the hue is rounded, which adds 1 to the
  // bound.)
  int max_cost(int channels) const {
    if (channels == 1) return 255;
    const auto most = [&](int i, int difference) { return (difference * scales[i] + 128) / 256; };
    return (space == Space::hsv ? most(0, 64) + 1 : most(0, 255)) + most(1, 255) + most(2, 255);
  }
};

// Converts the weights. Throws Error(call) unless there are three weights, none is negative and at least one is above
// 0.
inline Weighting weighting(Space space, const std::vector<double>& weights) {
  const auto shown = detail::value_text(weights);
  if (weights.size() != 3)
    throw Error(ErrorCategory::call,
                text("cost.weights = ", shown,
                     " is not allowed; it must be three numbers, one per channel, such as 0.2,0.3,0.5"));
  for (const double weight : weights)
    if (!(weight >= 0) || !std::isfinite(weight))
      throw Error(ErrorCategory::call,
                  text("cost.weights = ", shown, " is not allowed; each weight must be 0 or more"));
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (largest == 0)
    throw Error(ErrorCategory::call,
                text("cost.weights = ", shown, " is not allowed; at least one weight must be above 0"));
  Weighting result{space, {}};
  for (int i = 0; i < 3; ++i) result.scales[i] = static_cast<int>(std::floor(256 * (weights[i] / largest) + 0.5));
  return result;
}

// The cost, as a kind of cost source (see cost.hpp).
struct Colours {
  using Word = std::uint32_t;
  int largest;  // the value of Weighting::max_cost

  int max_cost() const { return largest; }
  int operator()(Word a, Word b) const {
    int sum = 0;
    for (int shift = 0; shift < 32; shift += 8)
      sum += std::abs(static_cast<int>(a >> shift & 255) - static_cast<int>(b >> shift & 255));
    return sum;
  }
};

}  // namespace stereopsis::cost
