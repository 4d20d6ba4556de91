// Census with gradient: one 32-bit feature word that combines a part that is invariant to exposure with a part that
// distinguishes pixels at object borders. This stage is our own. The parts of the cost are the census transform (Zabih
// and Woodfill 1994) and the truncated horizontal gradient of Rhemann et al. 2011.
//
//   bits 0–23:  bit i is I(p_i) < I(p), p_i the i-th of the 24 neighbours in the 5×5 window, row by row
//   bits 24–31: G(p) = clamp(128 + I8(x+1, y) − I8(x−1, y), 0, 255), I8 the intensity in 8-bit units
//
// The cost of two words is w · Hamming + min(|ΔG|, t): see cost::CensusGradient.
//
// Input: grey, 8-bit, 16-bit or float, and the same image in 8 bits. Output: 32-bit words.
// Required input: 2 pixels on each side; borders replicate.
// Cost: 24 comparisons per pixel; reads each pixel once and writes 4 bytes.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::census_gradient {

struct Parameters {
  static constexpr const char* stage = "census_gradient";
  int census_weight = 2;
  int gradient_limit = 10;

  static void describe(auto& p, auto&& visit) {
    visit("census_weight", p.census_weight, between(0, 8).planned(), "matching cost of a differing census bit");
    visit("gradient_limit", p.gradient_limit, between(0, 63).in("grey levels"),
          "largest matching cost of differing gradients");
  }
};

inline Rect required_input(const Parameters&, const Rect& output) { return grow(output, 2, 2); }

// T is uint8_t, uint16_t or float.
template <class T>
void oracle(ImageView<const T> grey, ImageView<const std::uint8_t> grey8, ImageView<std::uint32_t> words);

template <class T>
void cpu(ImageView<const T> grey, ImageView<const std::uint8_t> grey8, ImageView<std::uint32_t> words, Threads&);

template <class T>
void gpu(gpu::View<const T> grey, gpu::View<const std::uint8_t> grey8, gpu::View<std::uint32_t> words, gpu::Queue&);

}  // namespace stereopsis::census_gradient
