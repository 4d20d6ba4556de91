// Features of the truncated colour and gradient cost (Rhemann et al. 2011, equations 2 and 3, with their program's
// weights):
//
//   C(p, d) = (1 − α) · min(‖I_left − I_right‖, τ1) + α · min(|∇x G_left − ∇x G_right|, τ2)
//
// The norm ‖·‖ is the mean of the absolute differences of the three colours. G is the grey level, and ∇x G its central
// difference (G(x + 1) − G(x − 1)) / 2. A word holds the pixel's colours in bits 0 to 23 and 256 + 2 ∇x G from bit 32
// on, so that all values are exact. From two words, stages/cost computes a cost from 0 to 255, rounded to nearest. The
// cost is 255 if both terms are truncated.
//
// Rhemann et al. fill the shifted right image and gradient outside the image with a constant. The parameter `border` is
// that constant, as an intensity. The program of the authors uses the same value for the gradient, whose zero is at
// 127.5. The default of −1 replicates the nearest pixel, as other costs do, and results in fewer errors
// (docs/notes/costfilter.md).
//
// Input: 8-bit image with 1 or 3 channels (a single channel counts three times), and its 8-bit grey. Output: 64-bit
// words.
// Required input: 1 pixel to the left and right; borders replicate. Reads each pixel once and writes one word.
#pragma once

#include <cmath>

#include "stages/cost/cost.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::colour_gradient {

struct Parameters {
  static constexpr const char* stage = "colour_gradient";
  double alpha = 0.89;
  double colour_limit = 9;
  double gradient_limit = 1.5;
  int border = -1;

  static void describe(auto& p, auto&& visit) {
    visit("alpha", p.alpha, between(0, 1), "weight of the gradient; the weight of the colour is 1 minus this");
    visit("color_limit", p.colour_limit, between(1, 255).in("8-bit intensities"),
          "largest mean colour difference; larger differences are truncated");
    visit("gradient_limit", p.gradient_limit, between(0.5, 127.5).in("8-bit intensities per pixel"),
          "largest difference of gradients; larger differences are truncated");
    visit("border", p.border, between(-1, 255),
          "intensity of pixels outside the right image; -1: that of the nearest pixel");
  }
};

inline Rect required_input(const Rect& output) { return grow(output, 1, 0); }

inline std::uint64_t word_of(int red, int green, int blue, int twice_gradient) {
  return static_cast<std::uint64_t>(red | green << 8 | blue << 16) | static_cast<std::uint64_t>(256 + twice_gradient)
                                                                         << 32;
}

// The limits are rounded to multiples of a third and of half an intensity, the units of the differences.
inline cost::ColourGradient kind(const Parameters& p) {
  const double colour_limit = std::nearbyint(3 * p.colour_limit), gradient_limit = std::nearbyint(2 * p.gradient_limit);
  const double largest = (1 - p.alpha) * colour_limit / 3 + p.alpha * gradient_limit / 2;
  const auto factor = [&](double weight) { return static_cast<int>(65536 * 255 * weight / largest); };
  const int border = std::max(p.border, 0);
  return {factor((1 - p.alpha) / 3),        factor(p.alpha / 2), static_cast<int>(colour_limit),
          static_cast<int>(gradient_limit), p.border < 0,        word_of(border, border, border, 2 * border - 255)};
}

void oracle(ImageView<const std::uint8_t> image, ImageView<const std::uint8_t> grey, ImageView<std::uint64_t> words);
void cpu(ImageView<const std::uint8_t> image, ImageView<const std::uint8_t> grey, ImageView<std::uint64_t> words,
         Threads&);
void gpu(gpu::View<const std::uint8_t> image, gpu::View<const std::uint8_t> grey, gpu::View<std::uint64_t> words,
         gpu::Queue&);

}  // namespace stereopsis::colour_gradient
