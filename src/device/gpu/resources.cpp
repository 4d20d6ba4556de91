#include "stereopsis/resources.hpp"

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/callers.hpp"
#endif

namespace stereopsis {
namespace {

[[noreturn]] void refuse(const std::string& device, const char* what) {
  throw Error(ErrorCategory::unsupported, text("the device '", device, "' can't use ", what,
                                               " of the caller's; CUDA devices alone can: cuda, cuda:N"));
}

}  // namespace

void use_allocator(const std::string& device, [[maybe_unused]] DeviceAllocator allocator) {
  const std::string name = resolve_device(device);
  if (static_cast<bool>(allocator.allocate) != static_cast<bool>(allocator.release))
    throw Error(ErrorCategory::call,
                "an allocator has one of its two functions; give allocate and release, or neither");
#ifdef STEREOPSIS_CUDA
  if (name.starts_with("cuda") && cuda::use_allocator(gpu::device(name), std::move(allocator))) return;
#endif
  refuse(name, "memory");
}

void use_cuda_context(const std::string& device, [[maybe_unused]] void* context) {
  const std::string name = resolve_device(device);
  if (context == nullptr)
    throw Error(ErrorCategory::call, "a CUDA context is null; give a CUcontext, as cuCtxGetCurrent has it");
#ifdef STEREOPSIS_CUDA
  if (name.starts_with("cuda") && cuda::use_context(gpu::device(name), static_cast<cuda::Context>(context))) return;
#endif
  refuse(name, "a CUDA context");
}

}  // namespace stereopsis
