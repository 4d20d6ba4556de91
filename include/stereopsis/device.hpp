// Where a method runs. Devices are found at run time; one that can't be used says why.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stereopsis {

// What does the stages of a plan: the fastest there is, several stages at once where that serves; each stage by itself; or the
// scalar definitions, slowly, on the CPU. All give the same bits.
enum class Implementation { fused, plain, oracle };

// Which device, and how it is used.
struct Device {
  std::string name = "auto";  // auto, cpu, cuda, cuda:N, opencl, opencl:N
  int threads = 0;  // of the CPU; 0: as many as the process may use; callers_arena: see stereopsis/resources.hpp
  Implementation implementation = Implementation::fused;  // the bits are the same
};

// A device that was looked for.
struct DeviceDescription {
  std::string name;         // as Device::name takes it
  std::string description;  // "Intel Xeon, 2 cores, AVX-512"
  bool usable = false;      // whether methods can run on it here
  std::string reason;       // why it can't be used, and what would help; empty where it can
  std::vector<std::pair<std::string, std::string>> properties;  // name and value, for people
};

// All that was looked for, usable or not. Never throws for missing hardware. With `measure`, the properties of GPUs have the
// bandwidth that a short copy reaches.
std::vector<DeviceDescription> devices(bool measure = false);

// What the process may have of this machine's memory: all of it, or what its control group allows.
std::size_t host_memory_bytes();

// The device that `auto` stands for (the first CUDA device that can be used, else cpu), or the name itself, with its number. Throws Error(call) for a name that is none,
// Error(unsupported) for one that can't be used here.
std::string resolve_device(const std::string& name);

}  // namespace stereopsis
