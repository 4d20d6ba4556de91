// Whether a device does what the stages mean, on this machine, with its driver.
#pragma once

#include <string>
#include <vector>

#include "stereopsis/device.hpp"

namespace stereopsis {

// How a stage did.
struct StageCheck {
  std::string stage;    // its name
  bool same = false;    // as its scalar definition, bit for bit
  std::string problem;  // what went wrong; empty where it ran
};

// Every stage on small made images. Throws only what resolve_device() throws.
std::vector<StageCheck> check_stages(const Device&);

}  // namespace stereopsis
