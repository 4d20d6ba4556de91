#include "device/cuda/cuda_api.hpp"

#include "core/text.hpp"
#include "device/system/system.hpp"

namespace stereopsis::cuda {
namespace {

struct Opened {
  Api api;
  std::string reason;  // reason why the driver cannot be used; empty if the driver can be used
};

Opened open_driver() {
  Opened opened;
  void* driver = system::open_library(system::cuda_driver);
  if (driver == nullptr) {
    opened.reason = text("the CUDA driver ", system::cuda_driver, " is not installed; install NVIDIA's driver");
    return opened;
  }
#define X(member, symbol, parameters)                                                                 \
  opened.api.member = reinterpret_cast<Status(*) parameters>(system::find_function(driver, #symbol)); \
  if (opened.api.member == nullptr) {                                                                 \
    opened.reason = "the CUDA driver has no function " #symbol "; install a newer driver";            \
    return opened;                                                                                    \
  }
  STEREOPSIS_CUDA_FUNCTIONS(X)
#undef X
  opened.api.launch_with =
      reinterpret_cast<decltype(opened.api.launch_with)>(system::find_function(driver, "cuLaunchKernelEx"));
  return opened;
}

}  // namespace

const Api* open(std::string& reason) {
  static const Opened opened = open_driver();  // opened once, because other threads may already use the table
  reason = opened.reason;
  return reason.empty() ? &opened.api : nullptr;
}

}  // namespace stereopsis::cuda
