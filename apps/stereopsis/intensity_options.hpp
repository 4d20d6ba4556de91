// The options --bit-depth, --black and --white.
#pragma once

#include "jobs/intensities.hpp"
#include "options.hpp"

namespace stereopsis::command {

struct IntensityOptions : jobs::Intensities {
  void add_to(Command& command);
};

}  // namespace stereopsis::command
