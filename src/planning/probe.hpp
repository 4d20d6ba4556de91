// All candidates' costs at a few pixels, taken out of a volume: a step of plans that somebody probes.
#pragma once

#include "graph/descriptor.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::probe {

struct Parameters {
  std::vector<Pixel> pixels;  // pixels of the volume
};

// Reads a volume, writes an image of its type: a row for each pixel, as wide as there are candidates.
const StageDescriptor& entry();

}  // namespace stereopsis::probe
