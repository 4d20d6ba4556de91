// Random numbers that are equal on every machine. The numbers use only integer hashes, and nothing from <random>.
#pragma once

#include <cstdint>

namespace stereopsis::synth {

// The output function of SplitMix64 (Steele, Lea and Flood 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

inline std::uint32_t mix32(std::uint32_t h) {
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

// Returns the random value of a lattice point, for textures.
inline std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t seed) {
  return mix32(seed ^ x * 0x8da6b343u ^ y * 0xd8163841u ^ z * 0xcb1ab31fu);
}

// Maps h to [0, 1], including both ends.
inline double unit(std::uint32_t h) { return h * (1.0 / 4294967295.0); }

// A random sequence. In C++, the evaluation order of function arguments is not defined. Draw numbers inside braces, or
// with one statement per number.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix64(seed + 0x9e3779b97f4a7c15u)) {}

  std::uint64_t next() { return mix64(state_ += 0x9e3779b97f4a7c15u); }
  double between(double low, double high) { return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53); }
  int below(int n) { return static_cast<int>((next() >> 33) % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// Returns an approximately normal number with mean 0 and standard deviation 1, as the sum of twelve uniform 16-bit
// integers. `counter` identifies the number that is drawn.
inline double gaussian(std::uint64_t seed, std::uint64_t counter) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t bits = mix64(seed + (3 * counter + i + 1) * 0x9e3779b97f4a7c15u);
    for (int shift = 0; shift < 64; shift += 16) sum += static_cast<int>((bits >> shift) & 0xffff);
  }
  return (sum - 6 * 65535) * (1.0 / 65536.0);
}

}  // namespace stereopsis::synth
