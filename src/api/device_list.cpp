// Splits a list of devices into its names.
#include <algorithm>

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "stereopsis/matcher_group.hpp"

namespace stereopsis {
namespace {

std::vector<std::string> usable(const gpu::Found& found) {
  std::vector<std::string> names;
  for (const gpu::Found::Candidate& candidate : found.candidates)
    if (candidate.device) names.push_back(candidate.device->name());
  return names;
}

std::vector<std::string> expanded(const std::string& name) {
  if (name != "cuda:*" && name != "opencl:*") return {resolve_device(name)};
  std::vector<std::string> names = usable(name == "cuda:*" ? gpu::cuda_devices() : gpu::opencl_devices());
  // Throws an error with the reason why there is no such device.
  if (names.empty()) resolve_device(name.substr(0, name.find(':')));
  return names;
}

}  // namespace

std::vector<Device> devices_of(const Device& device) {
  std::vector<Device> list;
  for (const std::string& part : split(device.name, ','))
    for (const std::string& name : expanded(part)) {
      if (std::ranges::count(list, name, &Device::name) > 0)
        throw Error(ErrorCategory::call,
                    text("the device '", name, "' is named twice in '", device.name, "'; name each device once"));
      list.push_back({name, device.threads, device.implementation});
    }
  return list;
}

}  // namespace stereopsis
