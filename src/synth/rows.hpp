// Processes rows in parallel if the library has threads, and otherwise sequentially.
#pragma once

#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis::synth {

inline thread_local bool rows_are_divided = false;

struct Divided {
  Divided() { rows_are_divided = true; }
  ~Divided() { rows_are_divided = false; }
};

// Calls f(first, last) on parts of [0, rows). Parts of at most `grain` rows are not divided further. The result of f
// must not depend on the division. Nested calls inside f do not divide rows again. If there are many scenes, each scene
// has one thread.
template <class F>
void for_rows(int rows, F&& f, [[maybe_unused]] int grain = 8) {
#ifdef STEREOPSIS_SIMD
  if (rows_are_divided) return f(0, rows);
  const auto piece = [&](int first, int last) {
    const Divided divided;
    f(first, last);
  };
  Threads().rows(rows, piece, grain);
#else
  f(0, rows);
#endif
}

}  // namespace stereopsis::synth
