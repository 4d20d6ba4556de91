// Census transform (Zabih and Woodfill 1994; Reis 2017, equations 4 and 5):
//
//   C(p) = ⊗_{p' ∈ D(p)} ξ(p, p'),   ξ(p, p') = 1 where I(p) > I(p'), else 0
//
// D(p) is the W×H window around p without p itself, in row-major order. The operator ⊗ concatenates the bits: the top
// left pixel of the window becomes the highest of the W·H − 1 bits, and the bottom right pixel becomes bit 0. Higher
// bits are 0. (Figure 12 of Reis shows the complement, which has the same Hamming distances.)
//
// Input: grey, 8-bit, 16-bit or float. Output: words of 32, 64 or 128 bits, whichever are wide enough.
// Required input: (W−1)/2 pixels to the left and right, (H−1)/2 above and below; borders replicate.
// Cost: W·H − 1 comparisons per pixel; reads each pixel once and writes one word.
#pragma once

#include <array>

#include "core/word128.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::census {

enum class Window { w3x3, w5x5, w7x5, w7x7, w9x7, w9x9, w11x9, w11x11 };
constexpr auto names_of(Window) {
  return std::array{std::pair{Window::w3x3, "3x3"},   std::pair{Window::w5x5, "5x5"},    std::pair{Window::w7x5, "7x5"},
                    std::pair{Window::w7x7, "7x7"},   std::pair{Window::w9x7, "9x7"},    std::pair{Window::w9x9, "9x9"},
                    std::pair{Window::w11x9, "11x9"}, std::pair{Window::w11x11, "11x11"}};
}

struct Shape {
  int width;
  int height;

  constexpr int bits() const { return width * height - 1; }
};
constexpr Shape shape_of(Window window) {
  switch (window) {
    case Window::w3x3: return {3, 3};
    case Window::w5x5: return {5, 5};
    case Window::w7x5: return {7, 5};
    case Window::w7x7: return {7, 7};
    case Window::w9x7: return {9, 7};
    case Window::w9x9: return {9, 9};
    case Window::w11x9: return {11, 9};
    default: return {11, 11};
  }
}

struct Parameters {
  static constexpr const char* stage = "census";
  Window window = Window::w9x7;

  static void describe(auto& p, auto&& visit) {
    visit("window", p.window, any, "size of the window: width by height, in pixels");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) {
  const Shape shape = shape_of(p.window);
  return grow(output, shape.width / 2, shape.height / 2);
}

template <class Word>
void check_word(const Parameters& p) {
  const int bits = shape_of(p.window).bits();
  if (bits > 8 * static_cast<int>(sizeof(Word)))
    throw Error(ErrorCategory::call, text("census.window = ", detail::value_text(p.window), " gives ", bits,
                                          " bits, which exceed words of ", 8 * sizeof(Word), "; use wider words"));
}

// T is uint8_t, uint16_t or float; Word is uint32_t, uint64_t or Word128.
template <class T, class Word>
void oracle(const Parameters&, ImageView<const T> grey, ImageView<Word> census);

template <class T, class Word>
void cpu(const Parameters&, ImageView<const T> grey, ImageView<Word> census, Threads&);

template <class T, class Word>
void gpu(const Parameters&, gpu::View<const T> grey, gpu::View<Word> census, gpu::Queue&);
// Transforms both views of a pair.
template <class T, class Word>
void gpu(const Parameters&, const std::array<gpu::View<const T>, 2>& grey, const std::array<gpu::View<Word>, 2>& census,
         gpu::Queue&);

}  // namespace stereopsis::census
