#include "device/cpu/threads.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace stereopsis {
namespace {

// The cores that the control group's quota amounts to, at least 1; `cores` where there is none.
int within_quota(int cores) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // "QUOTA PERIOD", or "max PERIOD"
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return cores;
  return std::clamp(static_cast<int>(std::ceil(std::stod(quota) / period)), 1, cores);
}

}  // namespace

// oneTBB counts the cores of the process's affinity mask.
int available_cores() { return within_quota(tbb::info::default_concurrency()); }

}  // namespace stereopsis
