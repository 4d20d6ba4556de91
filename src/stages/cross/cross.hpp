// Cross-based support regions (Zhang, Lu and Lafruit 2009), with the rules of Mei et al. 2011, section 2.2. Arms grow
// from a pixel p to the left, to the right, up and down, pixel by pixel. An arm grows as long as its end q satisfies
// the following rules, where q⁻ is the previous pixel:
//
//   1. D_c(q, p) < τ1 and D_c(q, q⁻) < τ1        D_c(a, b) = max over the channels of |I_a − I_b|
//   2. D_s(q, p) < L1                            D_s = |q − p|
//   3. D_c(q, p) < τ2 where D_s(q, p) > L2
//
// The region of p consists of the horizontal arms of the pixels on its vertical arms, or of the vertical arms of the
// pixels on its horizontal arms. An arm ends at the border of the image, and may have no pixels. The rules follow
// Salaün and Monasse (AD Census, draft for IPOL, 2013). The values L1 = 34, L2 = 17, τ1 = 20 and τ2 = 6 follow Li's
// public program (AD-Census, 2020). Rule 3 applies to distances above L2 and below L1, so that a pixel at distance L2
// still belongs to the short arm.
//
// Input: 8-bit image, 1 or 3 channels. Output: words of arms.hpp.
// Required input: L1 − 1 pixels on each side.
// Cost: two comparisons per pixel of each arm. Arms have up to 127 pixels (L1 ≤ 128), so that sums of 8-bit costs along
// them fit in 16 bits.
#pragma once

#include "core/order.hpp"
#include "stages/shared/arms.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::cross {

struct Parameters {
  static constexpr const char* stage = "cross";
  int length = 34;
  int short_length = 17;
  int colour = 20;
  int strict_colour = 6;

  int longest() const { return length - 1; }  // longest arm

  static void describe(auto& p, auto&& visit) {
    visit("length", p.length, between(1, longest_arm + 1).in("pixels"),
          "limit of the length of an arm; arms are shorter");
    visit("short_length", p.short_length, between(0, longest_arm + 1).in("pixels"),
          "length beyond which strict_colour applies");
    visit("color", p.colour, between(0, 256).in("8-bit intensities"),
          "limit of the colour difference on an arm; differences are smaller");
    visit("strict_color", p.strict_colour, between(0, 256).in("8-bit intensities"),
          "limit of the colour difference beyond short_length; differences are smaller");
  }
};

// Throws an Error if the thresholds are not in order, or if the length of arms was set to more than the image allows.
// The default length may exceed the image.
inline void check(const Parameters& p, Size size) {
  check_order("cross", "short_length", p.short_length, "length", p.length);
  check_order("cross", "strict_color", p.strict_colour, "color", p.colour);
  const int longer_side = std::max(size.width, size.height);
  if (p.length > std::max(longer_side, Parameters().length))
    throw Error(ErrorCategory::call, text("cross.length = ", p.length, " makes arms longer than the image of ",
                                          size.width, "×", size.height, "; set it to at most ", longer_side));
}

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.longest(), p.longest()); }

void oracle(const Parameters&, ImageView<const std::uint8_t> image, ImageView<std::uint32_t> arms);
void cpu(const Parameters&, ImageView<const std::uint8_t> image, ImageView<std::uint32_t> arms, Threads&);
void gpu(const Parameters&, gpu::View<const std::uint8_t> image, gpu::View<std::uint32_t> arms, gpu::Queue&);

}  // namespace stereopsis::cross
