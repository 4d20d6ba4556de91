#include <cmath>

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "device/system/system.hpp"
#include "stereopsis/device.hpp"
#include "stereopsis/error.hpp"
#ifdef STEREOPSIS_SIMD
#include <hwy/targets.h>

#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {
namespace {

DeviceDescription cpu() {
  DeviceDescription device{
      .name = "cpu", .description = system::processor_name(), .usable = true, .reason = {}, .properties = {}};
#ifdef STEREOPSIS_SIMD
  if (!has_simd()) {
    device.properties = {{"threads", "1"}, {"SIMD", "none: this CPU has no SSE4.2, so that the scalar oracles run"}};
    return device;
  }
  device.properties = {{"threads", std::to_string(Threads().count())}};
  // The lowest set bit belongs to the best target. This build may lack targets that the CPU has.
  const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  device.properties.emplace_back("SIMD", hwy::TargetName(targets & -targets));
#else
  device.properties = {{"threads", "1"}, {"SIMD", "none: this build runs the scalar oracles"}};
#endif
  return device;
}

// Measures the bandwidth with a short copy. A device that cannot copy is marked as unusable.
void measure_bandwidth(gpu::Device& device, DeviceDescription& description) {
  try {
    const long gigabytes = std::lround(1e-9 * gpu::measure_copy_bandwidth(device));
    description.properties.emplace_back("memory bandwidth", text(gigabytes, " GB/s, measured by a copy"));
  } catch (const Error& error) {
    description.usable = false;
    description.reason = error.what();
  }
}

// Appends the devices of CUDA or of OpenCL.
void append(const char* name, const gpu::Found& found, bool measure, std::vector<DeviceDescription>& list) {
  if (!found.reason.empty()) list.push_back({name, "", false, found.reason, {}});
  for (const gpu::Found::Candidate& candidate : found.candidates) {
    if (!candidate.device) {
      list.push_back(candidate.unusable);
      continue;
    }
    DeviceDescription device = candidate.device->describe();
    if (measure) measure_bandwidth(*candidate.device, device);
    list.push_back(std::move(device));
  }
}

}  // namespace

std::vector<DeviceDescription> devices(bool measure) {
  std::vector<DeviceDescription> list = {cpu()};
  append("cuda", gpu::cuda_devices(), measure, list);
  append("opencl", gpu::opencl_devices(), measure, list);
  return list;
}

std::size_t host_memory_bytes() { return system::memory_bytes(); }

std::string resolve_device(const std::string& name) {
  if (name == "cpu") return name;
  if (name != "auto") return gpu::device(name).name();
  for (const gpu::Found::Candidate& candidate : gpu::cuda_devices().candidates)
    if (candidate.device) return candidate.device->name();
  return "cpu";
}

}  // namespace stereopsis
