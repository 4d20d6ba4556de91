#include "device/opencl/opencl_api.hpp"

#include <dlfcn.h>

#include "core/text.hpp"

namespace stereopsis::opencl {

const Api* open(std::string& reason) {
  static Api api;
  void* loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (loader == nullptr) {
    reason = "the OpenCL loader libOpenCL.so.1 is not installed; install it (ocl-icd-libopencl1) and a driver";
    return nullptr;
  }
#define X(function)                                                                         \
  api.function = reinterpret_cast<decltype(api.function)>(dlsym(loader, "cl" #function));   \
  if (api.function == nullptr) {                                                            \
    reason = "the OpenCL loader lacks cl" #function "; install one of OpenCL 1.2 or later"; \
    return nullptr;                                                                         \
  }
  STEREOPSIS_OPENCL_FUNCTIONS(X)
#undef X
  return &api;
}

}  // namespace stereopsis::opencl
