// What a program has already, in the place of what the library would make: a CUDA context, memory of a device, a oneTBB arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace stereopsis {

// As Device::threads of the device cpu: the work is done in the oneTBB arena that the plan, and then the matcher, are made in
// (arena.execute), by as many threads as it has, wherever the matcher is called. A matcher that is made in an arena of another size
// than its plan throws Error(call).
inline constexpr int callers_arena = -1;

// Gives memory of a CUDA device, and takes it back: a framework's pool. Called from any thread that makes or ends a matcher or an
// image, with the device's context current.
struct DeviceAllocator {
  // An address at a multiple of 256 bytes; 0 where no memory is left. May throw.
  std::function<std::uint64_t(std::size_t bytes)> allocate;
  std::function<void(std::uint64_t memory)> release;  // may not throw
};

// From now on a CUDA device's memory comes from there; an allocator without functions: from the driver again. What came from an earlier
// one goes back to it. Throws as resolve_device(), Error(call) where one function is missing, Error(unsupported) for a device that is not CUDA's.
void use_allocator(const std::string& device, DeviceAllocator allocator);

// A CUDA device is worked on in this context (a CUcontext of that device), and not in its primary one, which the runtime and
// frameworks use. To be said before the device is first used; the context must stay as long as the process uses the device. Throws
// as resolve_device(), Error(call) for a context of another device or when it is too late, Error(unsupported) for a device that is
// not CUDA's.
void use_cuda_context(const std::string& device, void* context);

}  // namespace stereopsis
