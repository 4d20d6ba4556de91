// 128-bit words for census windows of more than 65 pixels.
#pragma once

#include <bit>
#include <cstdint>

namespace stereopsis {

struct alignas(16) Word128 {
  std::uint64_t low;
  std::uint64_t high;

  bool operator==(const Word128&) const = default;
};

constexpr Word128 operator^(const Word128& a, const Word128& b) { return {a.low ^ b.low, a.high ^ b.high}; }

// Returns the word shifted left by one bit, with `bit` as the lowest.
template <class Word>
constexpr Word appended(const Word& word, bool bit) {
  return static_cast<Word>(word << 1 | static_cast<Word>(bit));
}
template <>
constexpr Word128 appended(const Word128& word, bool bit) {
  return {word.low << 1 | static_cast<std::uint64_t>(bit), word.high << 1 | word.low >> 63};
}

template <class Word>
constexpr int bits_of(const Word& word) {
  return std::popcount(word);
}
template <>
constexpr int bits_of(const Word128& word) {
  return std::popcount(word.low) + std::popcount(word.high);
}

// Returns byte `i` of the word, counted from the lowest byte.
template <class Word>
constexpr std::uint8_t byte_of(const Word& word, int i) {
  return static_cast<std::uint8_t>(static_cast<std::uint64_t>(word) >> 8 * i);
}
template <>
constexpr std::uint8_t byte_of(const Word128& word, int i) {
  return byte_of(i < 8 ? word.low : word.high, i % 8);
}

}  // namespace stereopsis
