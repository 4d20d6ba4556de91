#pragma once

#include "device/cpu/threads.hpp"

namespace stereopsis::test {

// Calls f with one thread and with several: results must not depend on the number.
template <class F>
void for_each_thread_count(F&& f) {
  for (const int count : {1, 3}) {
    Threads threads(count);
    f(threads);
  }
}

}  // namespace stereopsis::test
