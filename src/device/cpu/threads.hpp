// The threads that a CPU queue works with. All matchers of a process share oneTBB's workers, and leave its process-wide
// settings alone: with more threads than cores, the work is cut into as many pieces, which the cores share.
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

// How many threads the process may use at a time: its affinity mask and its control group's quota allow them.
int available_cores();

// The threads to work with where `asked` for; 0: the available cores. oneTBB ends the process where the system refuses it a thread;
// so, under a limit of address space or beyond the cores, they are begun as a trial: asked for, a refusal throws
// Error(unsupported), else there are as many as could be begun.
int usable_threads(int asked);

// What a thread's own `bytes` take among those of others. In the gap end the prefetches of a core that reads its last
// lines: without it they fetch, up to the end of a page, what the core of the next thread is writing.
constexpr std::size_t with_gap(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 4096; }

class Threads {
 public:
  // 0: as many as there are available cores; callers_arena: those of the arena that this is made in.
  explicit Threads(int count = 0)
      : arena_(count == callers_arena ? tbb::task_arena(tbb::task_arena::attach{}) : tbb::task_arena(limited(count))),
        count_(count == callers_arena ? arena_.max_concurrency() : usable_threads(count)) {}

  // How many pieces the work is cut into.
  int count() const { return count_; }

  // Calls f(first, last) on pieces of [0, rows), side by side; those of at most `grain` are not divided. The result must not
  // depend on the cut.
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

  // Calls f(i) for i in [0, count()), side by side as far as there are cores.
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
  // The thread sanitizer does not see how oneTBB's tasks begin and join, and takes every one for a race.
  template <class F>
  static void on_plain_threads(int count, F&& f) {
    std::vector<std::jthread> threads;
    for (int i = 1; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
    f(0);
  }
#endif

  // oneTBB warns of an arena that has more threads than it may begin.
  static int limited(int asked) { return std::min(usable_threads(asked), tbb::info::default_concurrency()); }

  tbb::task_arena arena_;
  int count_;
};

}  // namespace stereopsis
