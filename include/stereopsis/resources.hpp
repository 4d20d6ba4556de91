// Lets the library use resources of the program instead of its own: a CUDA context, device memory, a oneTBB arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace stereopsis {

// A value of Device::threads, for the device cpu, that selects the caller's oneTBB arena. The work of a matcher then
// runs in the arena in which the plan and the matcher are made (arena.execute), with as many threads as the arena has.
// The arena in which the matcher is called does not matter. Making a matcher in an arena with another number of threads
// than the arena of its plan throws Error(call).
inline constexpr int callers_arena = -1;

// Functions that allocate and release memory of a CUDA device, such as those of a framework's pool. The functions are
// called from any thread that makes or destroys a matcher or an image, with the device's context current.
struct DeviceAllocator {
  // Returns an address at a multiple of 256 bytes, or 0 if no memory is left. May throw.
  std::function<std::uint64_t(std::size_t bytes)> allocate;
  std::function<void(std::uint64_t memory)> release;  // must not throw
};

// Sets the allocator of a CUDA device for later allocations. An allocator without functions restores the allocator of
// the driver. Memory from an earlier allocator is released with that allocator. Throws the errors of resolve_device(),
// Error(call) if one function is missing, and Error(unsupported) for a device other than CUDA.
void use_allocator(const std::string& device, DeviceAllocator allocator);

// Makes the library use this context (a CUcontext of the device) instead of the primary context, which the runtime and
// frameworks use. Call this function before the device is first used. The context must stay valid as long as the
// process uses the device. Throws the errors of resolve_device(). Throws Error(call) for a context of another device,
// or if the device is already in use, and Error(unsupported) for a device other than CUDA.
void use_cuda_context(const std::string& device, void* context);

}  // namespace stereopsis
