// The devices that methods run on. Devices are found at run time; each unusable device has a reason.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stereopsis {

// The way in which a plan computes its stages. `fused` is the fastest way, with several stages in one operation where
// possible. `plain` runs one stage at a time. `oracle` runs the scalar definitions, which are slow, on the CPU. All
// implementations return the same result, bit for bit.
enum class Implementation { fused, plain, oracle };

// A device, and the way in which it is used.
struct Device {
  std::string name = "auto";  // auto, cpu, cuda, cuda:N, opencl, opencl:N
  // Number of CPU threads; 0 means as many as the process may use; callers_arena: see stereopsis/resources.hpp.
  int threads = 0;
  Implementation implementation = Implementation::fused;  // the implementation; does not affect the result
};

// A device that the library has looked for, usable or not.
struct DeviceDescription {
  std::string name;         // name of the device, as in Device::name
  std::string description;  // "Intel Xeon, 2 cores, AVX-512"
  bool usable = false;      // true if methods can run on the device
  std::string reason;       // reason why the device cannot be used, and what to do; empty if usable
  std::vector<std::pair<std::string, std::string>> properties;  // further properties: names and values for display
};

// Returns all devices that the library has looked for, usable or not. Never throws for missing hardware. If `measure`
// is true, the bandwidth of a short copy is among the properties of GPUs.
std::vector<DeviceDescription> devices(bool measure = false);

// Returns the host memory that the process may use: the memory of the machine, or the limit of the control group.
std::size_t host_memory_bytes();

// Returns the device that `auto` stands for: the first usable CUDA device, else cpu. Returns any other name with the
// number of the device. Throws Error(call) for an invalid name, and Error(unsupported) for a device that cannot be
// used.
std::string resolve_device(const std::string& name);

}  // namespace stereopsis
