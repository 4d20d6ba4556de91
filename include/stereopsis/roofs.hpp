// Determines what bounds a stage: memory, arithmetic, or latency.
#pragma once

#include <span>

#include "stereopsis/device.hpp"
#include "stereopsis/stage_time.hpp"

namespace stereopsis {

// Peak rates of a device, per second, measured by short runs. 0: unknown.
struct Roofs {
  double bytes = 0;  // bytes read and written when copying device memory
  // Additions and minima on path costs, counted for each lane of a vector: of 16 bits on a GPU, of 8 bits on the CPU.
  double path_operations = 0;
  double popcounts = 0;   // popcounts of 32-bit words
  double operations = 0;  // additions and minima of 32-bit integers
};
// Measures the peak rates by short runs on the device, which take about a second.
Roofs measure_roofs(const Device&);

// The resource that limits the speed of a stage.
enum class Bound { memory, arithmetic, latency };
// Returns the name of a bound, such as "memory".
const char* to_string(Bound);

// Lower bound of the run time of a stage: the time to read and write its bytes, or the time to execute its operations,
// whichever is longer.
struct Roof {
  double ms = 0;                // lower bound, milliseconds
  Bound bound = Bound::memory;  // the longer of the two times
};
// Returns the roof of one stage.
Roof roof_of(const StageTime&, const Roofs&);
// Returns the roof of several consecutive stages. The bound is the bound of the stages with the largest share of the
// time.
Roof roof_of(std::span<const StageTime>, const Roofs&);

// Returns the bound of the roof if the stage takes at most 2.5 times the time of the roof. Otherwise, returns latency,
// which includes all waiting and start times that the roof does not explain.
Bound bound_of(const StageTime&, const Roofs&);

}  // namespace stereopsis
