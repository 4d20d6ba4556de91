#include "api/near_device.hpp"

#include "device/gpu/device.hpp"
#include "device/system/system.hpp"

namespace stereopsis {

void move_near(const std::string& device) {
  if (device == "cpu") return;
  for (const auto& [property, value] : gpu::device(device).describe().properties)
    if (property == "PCI address") system::move_near(value);
}

}  // namespace stereopsis
