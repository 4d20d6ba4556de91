// A random call: any method with any parameters on any images. It depends on nothing but its seed.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "stereopsis/matcher.hpp"

namespace stereopsis::adversary {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::uint64_t bits() { return random_(); }
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(double p) { return unit() < p; }
  double unit() { return 0x1p-53 * static_cast<double>(random_() >> 11); }
  // Draws small values as often as large ones.
  int between_logarithmic(int low, int high);
  template <class List>
  const auto& pick(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(std::size(list))))];
  }

 private:
  std::mt19937_64 random_;
};

// A pair. Each image is surrounded by pixels that must not be read.
struct Pair {
  AnyImage left, right;
  Image<std::uint8_t> mask_left, mask_right;
  StereoPair views;
};

// Names of parameters and their values.
using Settings = std::vector<std::pair<std::string, std::string>>;
// Sets some of a pipeline's parameters to values that are allowed; returns them.
Settings change_parameters(Pipeline&, Dice&);

struct Call {
  explicit Call(std::uint64_t seed);
  std::string describe() const;  // in a line

  std::uint64_t seed;
  Pipeline pipeline;
  Settings changed;    // the method's parameters that were set
  bool mixed = false;  // its slots are of several methods
  Problem problem;
  int threads = 1;
  double memory = 0;  // the memory limit as a multiple of the plan's memory; 0: no limit
  std::deque<Pair> pairs;
};

}  // namespace stereopsis::adversary
