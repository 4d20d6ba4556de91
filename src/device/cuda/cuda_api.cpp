#include "device/cuda/cuda_api.hpp"

#include <dlfcn.h>

namespace stereopsis::cuda {
namespace {

struct Opened {
  Api api;
  std::string reason;  // the reason for which the driver cannot be used; empty if it can
};

Opened open_driver() {
  Opened opened;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    opened.reason = "the CUDA driver libcuda.so.1 is not installed; install NVIDIA's driver";
    return opened;
  }
#define X(member, symbol, parameters)                                                      \
  opened.api.member = reinterpret_cast<Status(*) parameters>(dlsym(driver, #symbol));      \
  if (opened.api.member == nullptr) {                                                      \
    opened.reason = "the CUDA driver has no function " #symbol "; install a newer driver"; \
    return opened;                                                                         \
  }
  STEREOPSIS_CUDA_FUNCTIONS(X)
#undef X
  opened.api.launch_with = reinterpret_cast<decltype(opened.api.launch_with)>(dlsym(driver, "cuLaunchKernelEx"));
  return opened;
}

}  // namespace

const Api* open(std::string& reason) {
  static const Opened opened = open_driver();  // once: other threads may use the table already
  reason = opened.reason;
  return reason.empty() ? &opened.api : nullptr;
}

}  // namespace stereopsis::cuda
