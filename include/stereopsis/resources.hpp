// Resources of the program that the library uses instead of its own: a CUDA context, device memory, a oneTBB arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace stereopsis {

// A value of Device::threads for the device cpu. The work runs in the oneTBB arena in which the plan and then the
// matcher are made (arena.execute), wherever the matcher is called, with as many threads as the arena has. Making a
// matcher in an arena whose size differs from that of its plan throws Error(call).
inline constexpr int callers_arena = -1;

// Allocates and releases memory of a CUDA device, such as a framework's pool. It is called from any thread that makes
// or destroys a matcher or an image, with the device's context current.
struct DeviceAllocator {
  // Returns an address at a multiple of 256 bytes, or 0 if no memory is left. May throw.
  std::function<std::uint64_t(std::size_t bytes)> allocate;
  std::function<void(std::uint64_t memory)> release;  // must not throw
};

// Sets the allocator of a CUDA device for later allocations; an allocator without functions restores the driver's.
// Memory from an earlier allocator is released to that allocator. Throws as resolve_device(), Error(call) if one
// function is missing, and Error(unsupported) for a device that is not a CUDA device.
void use_allocator(const std::string& device, DeviceAllocator allocator);

// Makes the library use this context (a CUcontext of that device) on a CUDA device instead of the primary context,
// which the runtime and frameworks use. Call it before the device is first used; the context must stay valid as long as
// the process uses the device. Throws as resolve_device(), Error(call) for a context of another device or if the device
// is already in use, and Error(unsupported) for a device that is not a CUDA device.
void use_cuda_context(const std::string& device, void* context);

}  // namespace stereopsis
