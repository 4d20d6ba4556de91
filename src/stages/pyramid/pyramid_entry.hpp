// What a level of the pyramid is made with.
#pragma once

#include "stages/entry.hpp"
#include "stages/pyramid/pyramid.hpp"

namespace stereopsis::pyramid {

struct LevelParameters {
  Parameters pyramid;
  wta::Parameters select;
};

}  // namespace stereopsis::pyramid
