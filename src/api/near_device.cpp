#include "api/near_device.hpp"

#include <sched.h>

#include <fstream>
#include <sstream>

#include "core/text.hpp"
#include "device/gpu/device.hpp"

namespace stereopsis {
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

void move_near(const std::string& device) {
  if (device == "cpu") return;
  std::string place;
  for (const auto& [property, value] : gpu::device(device).describe().properties)
    if (property == "PCI address") place = value;
  std::ifstream file(text("/sys/bus/pci/devices/", place, "/local_cpulist"));
  std::string list;
  cpu_set_t allowed, near, both;
  CPU_ZERO(&near);
  if (place.empty() || !std::getline(file, list) || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  add_processors(list, near);
  CPU_AND(&both, &near, &allowed);
  if (CPU_COUNT(&both) > 0) sched_setaffinity(0, sizeof both, &both);
}

}  // namespace stereopsis
