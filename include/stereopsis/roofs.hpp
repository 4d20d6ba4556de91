// Determines what bounds a stage: memory, arithmetic, or latency.
#pragma once

#include <span>

#include "stereopsis/device.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Peak rates of a device per second, measured by short runs. 0: unknown.
struct Roofs {
  double bytes = 0;  // bytes read and written by a copy in device memory
  // Instructions on path costs × lanes: additions and minima, of 16 bits on a GPU, of 8 bits on the CPU.
  double path_operations = 0;
  double popcounts = 0;   // popcounts of 32-bit words
  double operations = 0;  // additions and minima of 32-bit integers
};
// Measures the peak rates by short runs on the device, which take about a second.
Roofs measure_roofs(const Device&);

// The reason for the time of a stage.
enum class Bound { memory, arithmetic, latency };
// Returns the name for people.
const char* to_string(Bound);

// The least time in which the device can read and write the bytes, and execute the operations, of a stage's definition:
// the longer of the two times, and its cause.
struct Roof {
  double ms = 0;                // least time, milliseconds
  Bound bound = Bound::memory;  // the cause of that time
};
// Returns the roof of one stage.
Roof roof_of(const StageTime&, const Roofs&);
// Returns the roof of several consecutive stages; the bound is that of the largest share.
Roof roof_of(std::span<const StageTime>, const Roofs&);

// Returns the bound of the roof if the stage takes at most 2.5 times the time of the roof; otherwise latency, which
// includes all waiting and starting that the roof does not explain.
Bound bound_of(const StageTime&, const Roofs&);

}  // namespace stereopsis
