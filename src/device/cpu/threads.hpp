// The threads of a CPU queue. All matchers of a process share oneTBB's workers and leave its process-wide settings
// alone. With more threads than cores, the work is cut into one piece per thread, and the cores share the pieces.
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

// Returns how many threads the process may run at a time, by its affinity mask and its control group's quota.
int available_cores();

// Returns the number of threads to work with when `asked` are requested; 0 requests the available cores. oneTBB ends
// the process if the system refuses a thread. Under a limit of the address space, or beyond the number of cores, the
// threads are therefore started as a trial. If the trial fails, a positive `asked` throws Error(unsupported), and 0
// returns as many threads as could be started.
int usable_threads(int asked);

// Returns the distance in bytes between the scratch memory of two threads that need `bytes` each. The gap absorbs the
// hardware prefetches of a core that reads its last lines. Without the gap, these prefetches run to the end of the page
// and fetch lines that the next thread's core is writing.
constexpr std::size_t with_gap(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 4096; }

class Threads {
 public:
  // Uses `count` threads. 0: all available cores; callers_arena: those of the arena in which this object is
  // constructed.
  explicit Threads(int count = 0)
      : arena_(count == callers_arena ? tbb::task_arena(tbb::task_arena::attach{}) : tbb::task_arena(limited(count))),
        count_(count == callers_arena ? arena_.max_concurrency() : usable_threads(count)) {}

  // Returns the number of pieces that the work is cut into.
  int count() const { return count_; }

  // Calls f(first, last) on pieces of [0, rows) in parallel; pieces of at most `grain` rows are not divided. The result
  // must not depend on the division.
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

  // Calls f(i) for i in [0, count()), in parallel as far as there are cores.
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
  // The thread sanitizer does not see how oneTBB's tasks fork and join, and reports each of them as a race.
  template <class F>
  static void on_plain_threads(int count, F&& f) {
    std::vector<std::jthread> threads;
    for (int i = 1; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
    f(0);
  }
#endif

  // oneTBB warns about an arena that has more threads than it may start.
  static int limited(int asked) { return std::min(usable_threads(asked), tbb::info::default_concurrency()); }

  tbb::task_arena arena_;
  int count_;
};

}  // namespace stereopsis
