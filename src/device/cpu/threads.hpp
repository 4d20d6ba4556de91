// The threads of a CPU queue. All matchers of a process share the worker threads of oneTBB, and do not change its
// process-wide settings. If there are more threads than cores, the work is divided into one part per thread, and the
// cores share the parts.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#ifdef __SANITIZE_THREAD__
#include <thread>
#include <vector>
#endif

#include "stereopsis/resources.hpp"

namespace stereopsis {

// Returns how many threads the process may run at the same time, according to its affinity mask and the quota of its
// control group.
int available_cores();

// Returns the number of threads to use if `asked` threads are requested; 0 requests one per available core. If the
// system refuses a thread, oneTBB ends the process. Under a limit of the address space, or for more threads than cores,
// the threads are therefore started once as a trial. If the trial fails, a positive `asked` throws Error(unsupported),
// and 0 returns the number of threads that were started.
int usable_threads(int asked);

// Returns the distance in bytes between the scratch memory of two threads that need `bytes` each. The gap absorbs the
// hardware prefetches of a core that reads the last lines of its memory. Without the gap, these prefetches reach the
// end of the page, and fetch lines that the core of the next thread is writing.
constexpr std::size_t with_gap(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 4096; }

class Threads {
 public:
  // Uses `count` threads. If `count` is 0, uses one thread per available core. If `count` is callers_arena, uses the
  // threads of the arena in which this object is constructed.
  explicit Threads(int count = 0)
      : arena_(count == callers_arena ? tbb::task_arena(tbb::task_arena::attach{}) : tbb::task_arena(limited(count))),
        count_(count == callers_arena ? arena_.max_concurrency() : usable_threads(count)) {}

  // Returns the number of parts into which the work is divided.
  int count() const { return count_; }

  // Calls f(first, last) on parts of [0, rows) in parallel; parts of at most `grain` rows are not divided further. The
  // result of f must not depend on the division.
  template <class F>
  void rows(int rows, F&& f, int grain = 8) {
    if (count() == 1 || rows <= grain) return f(0, rows);
#ifdef __SANITIZE_THREAD__
    const int pieces = std::min(count(), rows / grain);
    on_plain_threads(pieces, [&](int i) {
      f(static_cast<int>(static_cast<long long>(rows) * i / pieces),
        static_cast<int>(static_cast<long long>(rows) * (i + 1) / pieces));
    });
#else
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<int>(0, rows, grain),
                        [&](const tbb::blocked_range<int>& piece) { f(piece.begin(), piece.end()); });
    });
#endif
  }

  // Calls f(i) for each i in [0, count()), in parallel as far as there are cores.
  template <class F>
  void each(F&& f) {
    if (count() == 1) return f(0);
#ifdef __SANITIZE_THREAD__
    on_plain_threads(count(), f);
#else
    arena_.execute([&] {
      tbb::parallel_for(
          0, count(), [&](int i) { f(i); }, tbb::simple_partitioner());
    });
#endif
  }

 private:
#ifdef __SANITIZE_THREAD__
  // The thread sanitizer does not see how oneTBB's tasks fork and join, and reports each task as a race.
  template <class F>
  static void on_plain_threads(int count, F&& f) {
    std::vector<std::jthread> threads;
    for (int i = 1; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
    f(0);
  }
#endif

  // oneTBB warns about an arena with more threads than it may start.
  static int limited(int asked) { return std::min(usable_threads(asked), tbb::info::default_concurrency()); }

  tbb::task_arena arena_;
  int count_;
};

}  // namespace stereopsis
