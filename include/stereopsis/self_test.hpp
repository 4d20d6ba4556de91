// Tests whether a device and its driver on this machine compute the stages correctly.
#pragma once

#include <string>
#include <vector>

#include "stereopsis/device.hpp"

namespace stereopsis {

// The result of testing one stage.
struct StageCheck {
  std::string stage;    // name of the stage
  bool same = false;    // true if the result equals that of the oracle, bit for bit
  std::string problem;  // error message of the stage; empty if the stage ran
};

// Runs every stage on small generated images. Throws only the errors of resolve_device().
std::vector<StageCheck> check_stages(const Device&);

}  // namespace stereopsis
