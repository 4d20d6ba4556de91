#include "device/cpu/threads.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/text.hpp"
#include "device/system/system.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

// Returns how many of `count` threads the system can run at the same time. If this number is smaller than `count`,
// `problem` receives the system's message.
int begun_of(int count, std::string& problem) {
  std::mutex waiting;
  std::vector<std::thread> threads;
  {
    const std::lock_guard until_all(waiting);
    try {
      threads.reserve(static_cast<std::size_t>(count));
      while (static_cast<int>(threads.size()) < count)
        threads.emplace_back([&] { const std::lock_guard wait(waiting); });
    } catch (const std::exception& e) {
      problem = e.what();
    }
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(threads.size());
}

}  // namespace

// oneTBB counts the cores of the process's affinity mask.
int available_cores() { return system::cores_within_quota(tbb::info::default_concurrency()); }

int usable_threads(int asked) {
  // Number of threads of a successful trial without a limit that other allocations share.
  static std::atomic<int> tried_before = 0;
  if (asked < 0)
    throw Error(ErrorCategory::call, text(asked,
                                          " threads are not allowed; the number must be at least 1, 0 for as many "
                                          "threads as the process may use, or callers_arena"));
  const int count = asked > 0 ? asked : available_cores();
  const bool limited = system::address_space_is_limited();
  if (count == 1 || (!limited && count <= std::max(available_cores(), tried_before.load()))) return count;
  constexpr int spare = 16;  // number of threads that the caller may start in addition
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
