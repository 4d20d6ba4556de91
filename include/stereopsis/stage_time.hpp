// Times of stages, as returned by matchers. The header stereopsis/roofs.hpp compares these times with the limits of the
// device.
#pragma once

#include <string>

namespace stereopsis {

// Time of a stage, and the amount of work by its definition (stereopsis/roofs.hpp).
struct StageTime {
  std::string name;  // title of the stage
  double ms = 0;     // time, in milliseconds
  // Bytes read and written, and numbers of 32-bit instructions: operations on path costs, population counts, and other
  // operations.
  double bytes = 0, path_operations = 0, popcounts = 0, operations = 0;
};

}  // namespace stereopsis
