#include "device/cpu/threads.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

// Returns the number of cores that the control group's quota allows, at least 1; `cores` if there is no quota.
int within_quota(int cores) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // "QUOTA PERIOD", or "max PERIOD"
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return cores;
  return std::clamp(static_cast<int>(std::ceil(std::stod(quota) / period)), 1, cores);
}

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Returns how many of `count` threads the system can run at a time. If these are not all, `problem` receives the
// system's message.
int begun_of(int count, std::string& problem) {
  std::mutex waiting;
  std::vector<std::jthread> threads;
  const std::lock_guard until_all(waiting);
  try {
    threads.reserve(static_cast<std::size_t>(count));
    while (static_cast<int>(threads.size()) < count) threads.emplace_back([&] { const std::lock_guard wait(waiting); });
  } catch (const std::exception& e) {
    problem = e.what();
  }
  return static_cast<int>(threads.size());
}

}  // namespace

// oneTBB counts the cores of the process's affinity mask.
int available_cores() { return within_quota(tbb::info::default_concurrency()); }

int usable_threads(int asked) {
  static std::atomic<int> tried_before = 0;  // successful trial without a limit that other allocations share
  if (asked < 0)
    throw Error(ErrorCategory::call, text(asked,
                                          " threads are not allowed; the number must be at least 1, 0 for as many "
                                          "threads as the process may use, or callers_arena"));
  const int count = asked > 0 ? asked : available_cores();
  const bool limited = address_space_is_limited();
  if (count == 1 || (!limited && count <= std::max(available_cores(), tried_before.load()))) return count;
  constexpr int spare = 16;  // for the caller's own threads
  const int needed = count + count / 4 + spare;
  std::string problem;
  const int begun = begun_of(needed, problem);
  if (begun == needed) {
    if (!limited) tried_before = std::max(tried_before.load(), count);
    return count;
  }
  if (asked == 0) return std::clamp((begun - spare) * 4 / 5, 1, count);
  throw Error(ErrorCategory::unsupported,
              text(count, " threads are more than the system allows: it started ", begun, " threads (", problem,
                   "); use fewer threads, or raise the limits of processes and memory (ulimit -u, ulimit -v)"));
}

}  // namespace stereopsis
