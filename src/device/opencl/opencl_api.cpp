#include "device/opencl/opencl_api.hpp"

#include "core/text.hpp"
#include "device/system/system.hpp"

namespace stereopsis::opencl {
namespace {

struct Opened {
  Api api;
  std::string reason;  // reason why the loader cannot be used; empty if the loader can be used
};

Opened open_loader() {
  Opened opened;
  void* loader = system::open_library(system::opencl_loader);
  if (loader == nullptr) {
    opened.reason =
        text("the OpenCL loader ", system::opencl_loader, " is not installed; ", system::how_to_install_opencl);
    return opened;
  }
#define X(function)                                                                                   \
  opened.api.function =                                                                               \
      reinterpret_cast<decltype(opened.api.function)>(system::find_function(loader, "cl" #function)); \
  if (opened.api.function == nullptr) {                                                               \
    opened.reason = "the OpenCL loader lacks cl" #function "; install one of OpenCL 1.2 or later";    \
    return opened;                                                                                    \
  }
  STEREOPSIS_OPENCL_FUNCTIONS(X)
#undef X
  return opened;
}

}  // namespace

const Api* open(std::string& reason) {
  static const Opened opened = open_loader();  // opened once, because other threads may already use the table
  reason = opened.reason;
  return reason.empty() ? &opened.api : nullptr;
}

}  // namespace stereopsis::opencl
