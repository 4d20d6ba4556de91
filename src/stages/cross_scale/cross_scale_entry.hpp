// Parameters with which the volumes of two levels are coupled.
#pragma once

#include "graph/registry.hpp"
#include "stages/cross_scale/cross_scale.hpp"

namespace stereopsis::cross_scale {

struct Coupling {
  Level level;
  float weight = 1, coarse_weight = 1;
};

}  // namespace stereopsis::cross_scale
