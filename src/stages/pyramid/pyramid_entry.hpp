// What a level of the pyramid is made with.
#pragma once

#include "stages/pyramid/pyramid.hpp"
#include "stages/stage_descriptor.hpp"

namespace stereopsis::pyramid {

struct LevelParameters {
  Parameters pyramid;
  wta::Parameters select;
};

}  // namespace stereopsis::pyramid
