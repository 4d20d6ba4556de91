// Rows side by side where the library has threads, one after the other where it has none.
#pragma once

#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis::synth {

// Calls f(first, last) on pieces of [0, rows). The result must not depend on the cut.
template <class F>
void for_rows(int rows, F&& f) {
#ifdef STEREOPSIS_SIMD
  Threads().rows(rows, f);
#else
  f(0, rows);
#endif
}

}  // namespace stereopsis::synth
