// Rank transform (Zabih and Woodfill 1994; Banz et al. 2011, equation 3):
//
//   R(p) = |{ p' ∈ A(p) : I(p') < I(p) }|,   A(p) the M×M window around p
//
// Input: grey, 8-bit, 16-bit or float. Output: 8-bit ranks, 0 to M²−1.
// Required input: (M−1)/2 pixels on each side; borders replicate.
// Cost: M² comparisons per pixel; reads and writes each pixel once.
#pragma once

#include <array>

#include "stages/shared/stage.hpp"

namespace stereopsis::rank {

struct Parameters {
  static constexpr const char* stage = "rank";
  int window = 9;

  static void describe(auto& p, auto&& visit) {
    // 15×15 is the largest window whose ranks fit in 8 bits.
    visit("window", p.window, odd(1, 15).in("pixels"), "side of the square window");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.window / 2, p.window / 2); }

// T is uint8_t, uint16_t or float.
template <class T>
void oracle(const Parameters&, ImageView<const T> grey, ImageView<std::uint8_t> ranks);

template <class T>
void cpu(const Parameters&, ImageView<const T> grey, ImageView<std::uint8_t> ranks, Threads&);

template <class T>
void gpu(const Parameters&, gpu::View<const T> grey, gpu::View<std::uint8_t> ranks, gpu::Queue&);
// Transforms both views, at the same time if possible.
template <class T>
void gpu(const Parameters&, const std::array<gpu::View<const T>, 2>& grey,
         const std::array<gpu::View<std::uint8_t>, 2>& ranks, gpu::Queue&);

}  // namespace stereopsis::rank
