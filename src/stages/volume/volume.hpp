// Matching costs from outside: a volume that comes with the pair takes the place of a cost that is computed.
#pragma once

#include "core/parameters.hpp"

namespace stereopsis::volume {

struct Parameters {
  static constexpr const char* stage = "volume";
  double largest = 0;
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P& p, Visitor&& visit) {
  visit(
      "largest", p.largest, between(0, 1e9),
      "the largest cost that there may be, which brings costs to the 8 bits that some stages take, and which paths cut "
      "them to (at most 95 lets the fastest kernels follow them); 0: that of the volume's type, and 1 of float");
}

}  // namespace stereopsis::volume
