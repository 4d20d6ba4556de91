// Times of stages, which matchers return. stereopsis/roofs.hpp compares them with the limits of the device.
#pragma once

#include <string>

namespace stereopsis {

// Time of a stage, and the work that its definition requires (stereopsis/roofs.hpp).
struct StageTime {
  std::string name;  // title of the stage
  double ms = 0;     // time, in milliseconds
  // Bytes read and written, and instructions, each of 32 bits: on path costs, population counts, and others.
  double bytes = 0, path_operations = 0, popcounts = 0, operations = 0;
};

}  // namespace stereopsis
