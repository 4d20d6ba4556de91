#include <fstream>
#include <thread>

#include "core/text.hpp"
#include "stereopsis/device.hpp"
#include "stereopsis/error.hpp"
#ifdef STEREOPSIS_SIMD
#include <hwy/targets.h>

#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "processor";
}

DeviceDescription cpu() {
  DeviceDescription device{.name = "cpu", .description = processor_name(), .usable = true, .reason = {}, .properties = {}};
#ifdef STEREOPSIS_SIMD
  device.properties = {{"threads", std::to_string(Threads().count())}};
  // The lowest bit is the best target.
  const std::int64_t targets = hwy::SupportedTargets();
  device.properties.emplace_back("SIMD", hwy::TargetName(targets & -targets));
#else
  device.properties = {{"threads", "1"}, {"SIMD", "none: this build runs the scalar oracles"}};
#endif
  return device;
}

// Not there yet, and said so.
DeviceDescription without_methods(const char* name) {
  return {name, "", false, text("no method of this version runs on ", name, "; use cpu"), {}};
}

}  // namespace

std::vector<DeviceDescription> devices() { return {cpu(), without_methods("cuda"), without_methods("opencl")}; }

std::string resolve_device(const std::string& name) {
  if (name == "auto" || name == "cpu") return "cpu";
  for (const DeviceDescription& device : devices())
    if (name == device.name || name.starts_with(device.name + ":"))
      throw Error(ErrorCategory::unsupported, text("the device '", name, "' can't be used: ", device.reason));
  throw Error(ErrorCategory::call, text("there is no device '", name, "'; it can be auto, cpu, cuda[:N] or opencl[:N]"));
}

}  // namespace stereopsis
