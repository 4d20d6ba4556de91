// The devices that methods run on. They are found at run time; each unusable device gives a reason.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stereopsis {

// The way in which a plan computes its stages. fused: the fastest way, with several stages at once where possible;
// plain: each stage by itself; oracle: the scalar definitions, slowly, on the CPU. All return the same result, bit for
// bit.
enum class Implementation { fused, plain, oracle };

// A device, and how it is used.
struct Device {
  std::string name = "auto";  // auto, cpu, cuda, cuda:N, opencl, opencl:N
  int threads = 0;  // CPU threads; 0: as many as the process may use; callers_arena: see stereopsis/resources.hpp
  Implementation implementation = Implementation::fused;  // does not affect the result
};

// A device that was looked for, usable or not.
struct DeviceDescription {
  std::string name;         // as in Device::name
  std::string description;  // "Intel Xeon, 2 cores, AVX-512"
  bool usable = false;      // true if methods can run on it here
  std::string reason;       // the reason why it cannot be used, and what would help; empty if usable
  std::vector<std::pair<std::string, std::string>> properties;  // name and value, for people
};

// Returns all devices that were looked for, usable or not. Never throws for missing hardware.
// `measure`: the properties of GPUs include the bandwidth of a short copy.
std::vector<DeviceDescription> devices(bool measure = false);

// Returns the host memory that the process may use: all of the machine's, or the limit of its control group.
std::size_t host_memory_bytes();

// Returns the device that `auto` stands for (the first usable CUDA device, else cpu), or the name itself with its
// number. Throws Error(call) for an invalid name, and Error(unsupported) for a device that cannot be used.
std::string resolve_device(const std::string& name);

}  // namespace stereopsis
