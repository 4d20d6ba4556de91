// The options --bit-depth, --black and --white.
#pragma once

#include "command/options.hpp"
#include "jobs/intensities.hpp"

namespace stereopsis::command {

struct IntensityOptions : jobs::Intensities {
  void add_to(Command& command);
};

}  // namespace stereopsis::command
