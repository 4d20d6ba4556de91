// CIE L*a*b* of sRGB colours (IEC 61966-2-1, white D65), in integers, so that every device computes the same values.
//
//   linear    R' = round(65535 · f(R / 255)), f(v) = v / 12.92 up to 0.04045, ((v + 0.055) / 1.055)^2.4 above
//   relative  X, Y, Z = (Σ m · R'G'B' + 32768) >> 16: the sRGB matrix with each row divided by what white has there, in
//             1/65536, so that a grey pixel has X = Y = Z
//   root      F(t) = ⌊4096 · ∛(t / 65536)⌋ above t = (6/29)³, ⌊4096 · (t · (29/6)²/3 + 4/29)⌋ up to there; 1 is 65536
//   word      L*, a*, b* in quarters: bits 0–9 L* = 116 F(Y) − 16; bits 10–19 a* + 128 = 500 (F(X) − F(Y)) + 128;
//             bits 20–29 b* + 128 = 200 (F(Y) − F(Z)) + 128, each rounded to the nearest
//
// Input: words of stages/rgb. Output: words.
// Required input: the pixel alone.
// Cost: three table look-ups and three cube roots per pixel; reads and writes 4 bytes.
#pragma once

#include <array>

#include "stages/shared/stage.hpp"

namespace stereopsis::lab {

// A table of the linear intensities for the 256 sRGB intensities.
struct Transfer {
  static constexpr bool is_argument = true;  // the struct is one argument of a kernel
  std::array<std::uint16_t, 256> of;
};
const Transfer& transfer();

struct Colour {
  int l, a, b;  // values in units of 1/4
};
inline Colour colour_of(std::uint32_t word) {
  return {static_cast<int>(word & 1023), static_cast<int>(word >> 10 & 1023), static_cast<int>(word >> 20 & 1023)};
}

void oracle(ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> lab);
void cpu(ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> lab, Threads&);
void gpu(gpu::View<const std::uint32_t> rgb, gpu::View<std::uint32_t> lab, gpu::Queue&);

}  // namespace stereopsis::lab
