// The conformance suite: whether a device, a driver or a compiler computes every stage and method bit for bit.
#pragma once

#include <string>
#include <vector>

#include "stereopsis/device.hpp"

namespace stereopsis {

// A case of the suite: a stage or a method, on generated images.
struct ConformanceCase {
  std::string name;      // the stage or the method, its settings and the kind of pixels
  std::string hash;      // hash of the results; empty if there are no results
  std::string expected;  // hash of the results of the oracle, as this version stores it; empty for a stage of your own
  std::string problem;   // the first pixel that differs, or the error message; empty if the case passed
};

// Runs every case that the device supports. The images are generated from integers. The results must have the stored
// hashes; those of a stage of your own must equal its oracle. Throws only the errors of resolve_device().
std::vector<ConformanceCase> check_conformance(const Device&);

}  // namespace stereopsis
