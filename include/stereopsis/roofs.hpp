// What bounds a stage: memory, arithmetic, or the time that nothing of both explains.
#pragma once

#include <span>

#include "stereopsis/device.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

// What a device reaches at most, in a second, measured by short runs. 0: not known.
struct Roofs {
  double bytes = 0;  // read and written by a copy in its memory
  double path_operations =
      0;  // instructions on path costs × lanes: additions and minima, on a GPU of 16 bits, on the CPU of 8
  double popcounts = 0;   // of 32-bit words
  double operations = 0;  // additions and minima of 32 bits
};
// By short runs on the device: about a second.
Roofs measure_roofs(const Device&);

// What a stage's time comes from.
enum class Bound { memory, arithmetic, latency };
// For people.
const char* to_string(Bound);

// The least time that the bytes and operations of a stage's definition can take, and what that is: the longer of the two.
struct Roof {
  double ms = 0;                // milliseconds
  Bound bound = Bound::memory;  // what takes them
};
// Of one stage.
Roof roof_of(const StageTime&, const Roofs&);
// Of several, one after the other; the bound is that of the largest share.
Roof roof_of(std::span<const StageTime>, const Roofs&);

// The roof's bound where the stage takes at most 2.5 times as long; else latency: waiting, starting, and what else no roof
// accounts for.
Bound bound_of(const StageTime&, const Roofs&);

}  // namespace stereopsis
