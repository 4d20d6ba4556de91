// Implements the functions of system.hpp on Linux.
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "core/large_pages.hpp"
#include "core/text.hpp"
#include "device/system/control_group.hpp"
#include "device/system/system.hpp"

namespace stereopsis {

void ask_for_large_pages(void* memory, std::size_t bytes) {
  constexpr std::uintptr_t large = 2 << 20;
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(memory) + large - 1) / large * large;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / large * large;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

namespace system {

const char* const cuda_driver = "libcuda.so.1";
const char* const opencl_loader = "libOpenCL.so.1";
const char* const how_to_install_opencl = "install it (ocl-icd-libopencl1) and a driver";

std::filesystem::path program_file() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

// The kernel of AArch64 tells no model.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "processor";
}

bool has_dot_product() {
#ifdef HWCAP_ASIMDDP
  static const bool has = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  return has;
#else
  return false;
#endif
}

int cores_within_quota(int cores) {
  return static_cast<int>(std::ceil(std::clamp(group_limits().cores, 1.0, static_cast<double>(cores))));
}

std::size_t memory_bytes() {
  const std::size_t machine =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::min(machine, group_limits().memory);
}

namespace {

// Adds the processors of a list such as "0-15,32-47" to the set.
void add_processors(const std::string& list, cpu_set_t& set) {
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    int first = 0, last = 0;
    char dash = 0;
    std::istringstream range(part);
    if (!(range >> first)) continue;
    last = range >> dash >> last ? last : first;
    for (int i = first; i <= last && i < CPU_SETSIZE; ++i) CPU_SET(i, &set);
  }
}

}  // namespace

void move_near(const std::string& pci_address) {
  std::ifstream file(text("/sys/bus/pci/devices/", pci_address, "/local_cpulist"));
  std::string list;
  cpu_set_t allowed, near, both;
  CPU_ZERO(&near);
  if (pci_address.empty() || !std::getline(file, list) || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  add_processors(list, near);
  CPU_AND(&both, &near, &allowed);
  if (CPU_COUNT(&both) > 0) sched_setaffinity(0, sizeof both, &both);
}

}  // namespace system
}  // namespace stereopsis
