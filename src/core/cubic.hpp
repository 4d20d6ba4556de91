// The weights of Catmull and Rom's cubic interpolation, as integers.
#pragma once

#include <array>
#include <cstdint>

namespace stereopsis {

// Positions between two pixels for which there are weights.
inline constexpr int cubic_positions = 256;

// Returns the weights of four neighbours at t = f / 256 between the second and the third one, in 1/2^bits:
// (−t³ + 2t² − t) / 2, (3t³ − 5t² + 2) / 2, (−3t³ + 4t² + t) / 2 and (t³ − t²) / 2 (Keys 1981, a = −½). Each is rounded,
// but the second one makes their sum exactly 1.
template <int bits>
constexpr std::array<std::int16_t, 4> cubic_weights(int f) {
  const int t1 = f << 16, t2 = (f * f) << 8, t3 = f * f * f;
  const auto rounded = [](int twice) { return (twice + (1 << (24 - bits))) >> (25 - bits); };
  const int first = rounded(-t3 + 2 * t2 - t1), third = rounded(-3 * t3 + 4 * t2 + t1), last = rounded(t3 - t2);
  return {static_cast<std::int16_t>(first), static_cast<std::int16_t>((1 << bits) - first - third - last),
          static_cast<std::int16_t>(third), static_cast<std::int16_t>(last)};
}

}  // namespace stereopsis
