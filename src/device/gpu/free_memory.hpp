// The memory of a GPU that no program uses.
#pragma once

#include <cstddef>

#include "device/gpu/device.hpp"

namespace stereopsis::gpu {

// A device whose driver reports free memory.
class FreeMemory {
 public:
  virtual ~FreeMemory() = default;
  virtual std::size_t free_bytes() = 0;
};

// Returns the free memory of a device, or all its memory if the driver does not report it.
inline std::size_t free_bytes(Device& device) {
  auto* const reporting = dynamic_cast<FreeMemory*>(&device);
  return reporting == nullptr ? device.memory_bytes() : reporting->free_bytes();
}

}  // namespace stereopsis::gpu
