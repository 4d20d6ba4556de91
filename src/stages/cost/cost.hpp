// Matching costs that are evaluated on the fly from one feature word per pixel. A kind defines the type of its words,
// the cost of two words, and the largest possible cost:
//
//   Rank            C(p, d) = |R_left(x, y) − R_right(x − d, y)|                   Banz et al. 2011, equation 2
//   Census          C(p, d) = Hamming(T_left(x, y), T_right(x − d, y))             Zabih and Woodfill 1994
//   CensusGradient  C(p, d) = w · Hamming(T_left, T_right) + min(|G_left − G_right|, t)   stages/census_gradient
//
//   AbsoluteDifference  C(p, d) = min(Σ |a − b|, t)                    over the bytes a and b of two words
//   SquaredDifference   C(p, d) = 255 min(Σ (a − b)², t²) / t²         rounded to the nearest   stages/difference
//
//   ColourGradient  C(p, d) = f · min(Σ |I_left − I_right|, s) + g · min(|G_left − G_right|, t)  stages/colour_gradient
//
// The cost of a candidate outside the right image is that of the nearest right pixel of the row. With ColourGradient,
// it may be the cost of a given word instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/word128.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::cost {

struct Rank {
  using Word = std::uint8_t;
  // True if path costs on these words can be continued from stripe to stripe.
  static constexpr bool can_be_followed = true;
  int window;

  int max_cost() const { return window * window - 1; }
  int popcounts() const { return 0; }  // number of 32-bit population counts per cost
  int operator()(Word a, Word b) const { return std::abs(a - b); }
};

template <class W>
struct Census {
  using Word = W;
  static constexpr bool can_be_followed = sizeof(W) <= 8;
  int bits;

  int max_cost() const { return bits; }
  int popcounts() const { return sizeof(W) / 4; }
  int operator()(const Word& a, const Word& b) const { return bits_of(a ^ b); }
};

// The cost of words that hold 24 census bits and, above them, 8 bits of gradient.
struct CensusGradient {
  using Word = std::uint32_t;
  static constexpr bool can_be_followed = true;
  int census_weight;
  int gradient_limit;

  int max_cost() const { return 24 * census_weight + gradient_limit; }
  int popcounts() const { return 1; }
  int operator()(Word a, Word b) const {
    const int hamming = bits_of((a ^ b) & 0xFFFFFF);
    const int gradient = std::abs(static_cast<int>(a >> 24) - static_cast<int>(b >> 24));
    return census_weight * hamming + std::min(gradient, gradient_limit);
  }
};

// The cost of words that hold three 8-bit colours and, from bit 32 on, 256 plus the gradient. The factors are in units
// of 1/65536, so that the largest cost is 255.
struct ColourGradient {
  using Word = std::uint64_t;
  int colour_factor, gradient_factor;
  int colour_limit, gradient_limit;
  bool replicates;  // true if the nearest pixel is replicated outside the image
  Word outside;

  int max_cost() const { return 255; }
  int operator()(Word a, Word b) const {
    int colours = 0;
    for (int c = 0; c < 3; ++c) colours += std::abs(byte_of(a, c) - byte_of(b, c));
    const int gradient = std::abs(static_cast<int>(a >> 32) - static_cast<int>(b >> 32));
    return (colour_factor * std::min(colours, colour_limit) + gradient_factor * std::min(gradient, gradient_limit) +
            32768) >>
           16;
  }
};

// The cost of words of four bytes, in 8-bit units.
struct AbsoluteDifference {
  using Word = std::uint32_t;
  int limit;

  int max_cost() const { return limit; }
  int operator()(Word a, Word b) const {
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += std::abs(byte_of(a, i) - byte_of(b, i));
    return std::min(sum, limit);
  }
};

struct SquaredDifference {
  using Word = std::uint32_t;
  int limit;

  int max_cost() const { return 255; }
  int factor() const { return (255 << 16) / (limit * limit); }  // factor in units of 1/65536
  int operator()(Word a, Word b) const {
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += (byte_of(a, i) - byte_of(b, i)) * (byte_of(a, i) - byte_of(b, i));
    return (factor() * std::min(sum, limit * limit) + 32768) >> 16;
  }
};

// Marks given 8-bit costs that replace words: the left view then has one channel per disparity. Larger costs are
// clamped to `largest`. The CPU reads the costs from `volume`, whose last row may be stored elsewhere.
struct Given {
  using Word = std::uint8_t;
  int largest = 255;
  VolumeView<const std::uint8_t> volume = {};

  int max_cost() const { return largest; }
};

// Returns the number of entries in a row of candidates on the CPU, including a block of 64 after the last one.
constexpr int entries_of_row(int width, int disparities) { return (width + disparities + 2 * 64 + 63) / 64 * 64; }

// The features of both views, and the cost of two features.
template <class Kind, template <class> class View = ImageView>
struct Source {
  using Word = typename Kind::Word;
  View<const Word> left;
  View<const Word> right;
  Kind kind;
};

// Returns C(p, d) with p = (x, y).
template <class Kind>
int evaluate(const Source<Kind>& source, int x, int y, int disparity) {
  if constexpr (requires { source.kind.outside; })
    if (!source.kind.replicates && (x - disparity < 0 || x - disparity >= source.right.width))
      return source.kind(source.left(x, y), source.kind.outside);
  return source.kind(source.left(x, y), source.right.clamped(x - disparity, y));
}

}  // namespace stereopsis::cost
