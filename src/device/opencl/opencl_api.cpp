#include "device/opencl/opencl_api.hpp"

#include <dlfcn.h>

#include "core/text.hpp"

namespace stereopsis::opencl {
namespace {

struct Opened {
  Api api;
  std::string reason;  // the reason for which the loader cannot be used; empty if it can
};

Opened open_loader() {
  Opened opened;
  void* loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (loader == nullptr) {
    opened.reason = "the OpenCL loader libOpenCL.so.1 is not installed; install it (ocl-icd-libopencl1) and a driver";
    return opened;
  }
#define X(function)                                                                                       \
  opened.api.function = reinterpret_cast<decltype(opened.api.function)>(dlsym(loader, "cl" #function));   \
  if (opened.api.function == nullptr) {                                                                   \
    opened.reason = "the OpenCL loader lacks cl" #function "; install one of OpenCL 1.2 or later";        \
    return opened;                                                                                        \
  }
  STEREOPSIS_OPENCL_FUNCTIONS(X)
#undef X
  return opened;
}

}  // namespace

const Api* open(std::string& reason) {
  static const Opened opened = open_loader();  // once: other threads may use the table already
  reason = opened.reason;
  return reason.empty() ? &opened.api : nullptr;
}

}  // namespace stereopsis::opencl
