// Parameters with which a level of the pyramid is computed.
#pragma once

#include "stages/pyramid/pyramid.hpp"
#include "stages/stage_descriptor.hpp"

namespace stereopsis::pyramid {

struct LevelParameters {
  Parameters pyramid;
  wta::Parameters select;
};

}  // namespace stereopsis::pyramid
