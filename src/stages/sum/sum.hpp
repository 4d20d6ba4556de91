// The sum of two matching costs, which complement each other.
//
//   C(p, d) = min((a · A(p, d) + b · B(p, d) + 32) >> 6, 255)
//
// The weights a and b are integers, in units of 1/64.
//
// Input: two volumes of 8-bit costs. Output: the same, in place of the second.
// Required input: the pixel alone.
// Cost: 2 multiplications per cell; reads both volumes once and writes one.
#pragma once

#include <algorithm>

#include "stages/shared/stage.hpp"

namespace stereopsis::sum {

struct Parameters {
  static constexpr const char* stage = "sum";
  int cost_weight = 64;
  int plus_weight = 64;

  static void describe(auto& p, auto&& visit) {
    visit("cost_weight", p.cost_weight, between(0, 255).in("64ths").planned(), "factor of the costs of the slot cost");
    visit("plus_weight", p.plus_weight, between(0, 255).in("64ths").planned(), "factor of the costs of the slot plus");
  }
};

// Returns the largest sum of costs that do not exceed the given largest costs.
inline double largest(const Parameters& p, double cost, double plus) {
  return std::min(255.0, (p.cost_weight * cost + p.plus_weight * plus + 32) / 64);
}

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint8_t> sums);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint8_t> sums, Threads&);
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint8_t> sums, gpu::Queue&);

}  // namespace stereopsis::sum
