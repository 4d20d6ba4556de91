#include "stereopsis/resources.hpp"

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/callers.hpp"
#endif

namespace stereopsis {
namespace {

[[noreturn]] void refuse(const std::string& device, const char* what) {
  throw Error(ErrorCategory::unsupported, text("the device '", device, "' does not support ", what,
                                               " of the caller; use a CUDA device: cuda or cuda:N"));
}

}  // namespace

void use_allocator(const std::string& device, [[maybe_unused]] DeviceAllocator allocator) {
  const std::string name = resolve_device(device);
  if (static_cast<bool>(allocator.allocate) != static_cast<bool>(allocator.release))
    throw Error(ErrorCategory::call, "only one function of the allocator is set; set allocate and release, or neither");
#ifdef STEREOPSIS_CUDA
  if (name.starts_with("cuda") && cuda::use_allocator(gpu::device(name), std::move(allocator))) return;
#endif
  refuse(name, "memory");
}

void use_cuda_context(const std::string& device, [[maybe_unused]] void* context) {
  const std::string name = resolve_device(device);
  if (context == nullptr)
    throw Error(ErrorCategory::call, "the CUDA context is null; pass a CUcontext, such as that of cuCtxGetCurrent");
#ifdef STEREOPSIS_CUDA
  if (name.starts_with("cuda") && cuda::use_context(gpu::device(name), static_cast<cuda::Context>(context))) return;
#endif
  refuse(name, "a CUDA context");
}

}  // namespace stereopsis
