// Adaptive support weights (Yoon and Kweon 2005; Yu et al. 2010, equations 1 to 4):
//
//   w(p, q) = exp(−(Δc / γc + Δg / γp)),   Δc the Euclidean distance in L*a*b*, Δg the distance in the image
//
// computed identically on every device: Δc and Δg are truncated to quarters, their sum over the γ is rounded to 1/32,
// and the exponential comes from a table of 256 entries computed on the host. If the exponent is below −255/32, the
// last entry of the table, 0, is used. The exponent has steps of 3 % of a weight, which change no error rate in the
// tables of the paper by more than 0.02.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/parameters.hpp"

namespace stereopsis::support_weight {

// The values exp(−i / 32) in units of 1/65536, at most 65535.
struct Table {
  static constexpr bool is_argument = true;  // the struct is one argument of a kernel
  std::array<std::uint16_t, 256> of;
};
inline Table make_table() {
  Table table{};
  for (int i = 0; i < 255; ++i)
    table.of[i] = static_cast<std::uint16_t>(std::min(65535.0, std::floor(65536 * std::exp(-i / 32.0) + 0.5)));
  return table;
}

// Factors that convert quarters to exponents, in units of 1/65536 of 1/32.
struct Scales {
  int colour, distance;
};
inline int scale_of(double gamma) { return static_cast<int>(std::floor(65536 * 32 / (4 * gamma) + 0.5)); }
inline Scales scales(double gamma_colour, double gamma_distance) {
  return {scale_of(gamma_colour), scale_of(gamma_distance)};
}

// Returns ⌊√n⌋ for n < 2²². For such n, the root rounded to float has the same integer part as the exact root.
inline int root(int n) { return static_cast<int>(std::sqrt(static_cast<float>(n))); }

inline int colour_distance(std::uint32_t p, std::uint32_t q) {
  int sum = 0;
  for (const int shift : {0, 10, 20}) {
    const int difference = static_cast<int>(p >> shift & 1023) - static_cast<int>(q >> shift & 1023);
    sum += difference * difference;
  }
  return root(sum);
}

// All values fit in 32 bits, because γ is at least 1.
inline int distance_part(const Scales& scales, int quarters) {
  return static_cast<int>(std::min<std::int64_t>(1 << 24, static_cast<std::int64_t>(scales.distance) * quarters));
}
inline int exponent(const Scales& scales, int colour_distance, int distance_part) {
  return std::min(255, (scales.colour * colour_distance + distance_part + 32768) >> 16);
}

// Converts a 16-bit weight to 8 bits.
inline int in_8_bits(int weight) { return std::min(255, (weight + 128) >> 8); }

// The range of γ in all methods with support weights.
constexpr Range gammas = between(1, 1000);

}  // namespace stereopsis::support_weight
