#include "device/cuda/cuda_api.hpp"

#include <dlfcn.h>

namespace stereopsis::cuda {

const Api* open(std::string& reason) {
  static Api api;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    reason = "the CUDA driver libcuda.so.1 is not installed; install NVIDIA's driver";
    return nullptr;
  }
#define X(member, symbol, parameters)                                          \
  api.member = reinterpret_cast<Status(*) parameters>(dlsym(driver, #symbol)); \
  if (api.member == nullptr) {                                                 \
    reason = "the CUDA driver lacks " #symbol "; install a newer one";         \
    return nullptr;                                                            \
  }
  STEREOPSIS_CUDA_FUNCTIONS(X)
#undef X
  api.launch_with = reinterpret_cast<decltype(api.launch_with)>(dlsym(driver, "cuLaunchKernelEx"));
  return &api;
}

}  // namespace stereopsis::cuda
