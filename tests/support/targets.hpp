#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "device/cpu/choose_targets.hpp"
#include "support/threads.hpp"

namespace stereopsis::test {

// Calls f once for each SIMD target that is compiled in and that this machine has.
template <class F>
void for_each_simd_target(F&& f) {
  struct Choose {
    explicit Choose(std::int64_t target) { choose_targets(target); }
    ~Choose() { choose_targets(0); }
  };
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const Choose choose(target);
    f();
  }
}

// Calls f(threads) for each SIMD target and number of threads: results must depend on neither.
template <class F>
void for_each_engine(F&& f) {
  for_each_simd_target([&] {
    for_each_thread_count([&](Threads& threads) {
      SCOPED_TRACE(testing::Message() << threads.count() << " threads");
      f(threads);
    });
  });
}

}  // namespace stereopsis::test
