// Implements the functions of system.hpp on macOS.
#include <mach-o/dyld.h>
#include <sys/sysctl.h>

#include <cstdint>
#include <cstdlib>

#include "core/large_pages.hpp"
#include "device/system/system.hpp"

namespace stereopsis {

void ask_for_large_pages(void*, std::size_t) {}  // macOS chooses the size of pages itself

namespace system {

const char* const cuda_driver = "libcuda.dylib";  // no driver of today has it
const char* const opencl_loader = "/System/Library/Frameworks/OpenCL.framework/OpenCL";
const char* const how_to_install_opencl = "macOS brings it";

std::filesystem::path program_file() {
  char name[4096] = {};
  std::uint32_t size = sizeof name;
  return _NSGetExecutablePath(name, &size) == 0 ? std::filesystem::path(name) : std::filesystem::path();
}

std::string processor_name() {
  char name[256] = {};
  std::size_t size = sizeof name - 1;
  return sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0 ? name : "processor";
}

bool has_dot_product() {
  static const bool has = [] {
    int found = 0;
    std::size_t size = sizeof found;
    return sysctlbyname("hw.optional.arm.FEAT_DotProd", &found, &size, nullptr, 0) == 0 && found != 0;
  }();
  return has;
}

int cores_within_quota(int cores) { return cores; }

std::size_t memory_bytes() {
  std::uint64_t bytes = 0;
  std::size_t size = sizeof bytes;
  sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0);
  return bytes;
}

void move_near(const std::string&) {}

}  // namespace system
}  // namespace stereopsis
