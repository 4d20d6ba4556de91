// Parameters with which the volumes of two levels are coupled.
#pragma once

#include "stages/cross_scale/cross_scale.hpp"
#include "graph/descriptor.hpp"

namespace stereopsis::cross_scale {

struct Coupling {
  Level level;
  float weight = 1, coarse_weight = 1;
};

}  // namespace stereopsis::cross_scale
