// A step for plans with probes, which copies the costs of all candidates at a few pixels from a volume.
#pragma once

#include "graph/descriptor.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::probe {

struct Parameters {
  std::vector<Pixel> pixels;  // pixels of the volume
};

// Returns the entry of the step. The step reads a volume, and writes an image of the same type. The image has a row for
// each pixel and a column for each candidate.
const StageDescriptor& entry();

}  // namespace stereopsis::probe
