// Copies the costs of all candidates at a few pixels from a volume: a step of plans with probes.
#pragma once

#include "graph/descriptor.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::probe {

struct Parameters {
  std::vector<Pixel> pixels;  // pixels of the volume
};

// Returns the entry of the step. It reads a volume and writes an image of its type, with a row for each pixel and a
// column for each candidate.
const StageDescriptor& entry();

}  // namespace stereopsis::probe
