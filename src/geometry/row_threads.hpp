// Threads for rows of images and points; a build without oneTBB runs all rows in the caller's thread.
#pragma once

#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {

#ifdef STEREOPSIS_SIMD
using RowThreads = Threads;
#else
struct RowThreads {
  explicit RowThreads(int) {}
  template <class F>
  void rows(int rows, F&& f, int = 0) {
    f(0, rows);
  }
};
#endif

}  // namespace stereopsis
