// The request of a caller for a matcher: the problem, and the device.
#pragma once

#include <vector>

#include "stereopsis/matcher_group.hpp"

namespace stereopsis::python {

struct Request {
  Problem problem;
  Device device;

  // Returns the devices that the name stands for. Throws Error for one that cannot be used.
  std::vector<Device> devices() const {
    const bool is_one = device.name.find_first_of(",*") == std::string::npos;
    return is_one ? std::vector{device} : devices_of(device);
  }
};

}  // namespace stereopsis::python
