// The four arms of a pixel's cross, in pixels, packed in a word. stages/cross computes such words, and stages for
// aggregation and voting read them.
#pragma once

#include <cstdint>

namespace stereopsis::cross {

struct Arms {
  int left, right, up, down;

  int across() const { return left + 1 + right; }
  int along() const { return up + 1 + down; }
};

// Sums of 255 8-bit costs fit in 16 bits.
inline constexpr int longest_arm = 127;

constexpr Arms arms_of(std::uint32_t word) {
  return {static_cast<int>(word & 255), static_cast<int>(word >> 8 & 255), static_cast<int>(word >> 16 & 255),
          static_cast<int>(word >> 24)};
}
constexpr std::uint32_t word_of(const Arms& arms) {
  return static_cast<std::uint32_t>(arms.left | arms.right << 8 | arms.up << 16) | static_cast<std::uint32_t>(arms.down)
                                                                                       << 24;
}

// Returns the intersection of two crosses.
constexpr Arms common(const Arms& a, const Arms& b) {
  const auto shorter = [](int i, int j) { return i < j ? i : j; };
  return {shorter(a.left, b.left), shorter(a.right, b.right), shorter(a.up, b.up), shorter(a.down, b.down)};
}

}  // namespace stereopsis::cross
