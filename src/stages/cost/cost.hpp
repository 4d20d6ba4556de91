// Matching costs that are evaluated on the fly from one feature word a pixel.
//
//   rank    uint8_t        C(p, d) = |R_left(x, y) − R_right(x − d, y)|      Banz et al. 2011, equation 2
//   census  uint32_t, _64  C(p, d) = Hamming(T_left(x, y), T_right(x − d, y))  Zabih and Woodfill 1994
//
// A candidate outside the right image costs what the nearest right pixel of its row costs.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::cost {

// The features of both views, and the largest cost that they can give.
template <class Word>
struct Source {
  ImageView<const Word> left;
  ImageView<const Word> right;
  int max_cost = 0;
};

inline int between(std::uint8_t a, std::uint8_t b) { return std::abs(a - b); }
inline int between(std::uint32_t a, std::uint32_t b) { return std::popcount(a ^ b); }
inline int between(std::uint64_t a, std::uint64_t b) { return std::popcount(a ^ b); }

// C(p, d) with p = (x, y).
template <class Word>
int evaluate(const Source<Word>& source, int x, int y, int disparity) {
  return between(source.left(x, y), source.right.clamped(x - disparity, y));
}

}  // namespace stereopsis::cost
