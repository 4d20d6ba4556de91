// A matcher whose stage calls a function: own_stage_test.cpp and own_callback_test.cpp use it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "stereopsis/user_stage.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::test::own_stage {

inline constexpr DisparityRange range{0, 16};

inline const Scene& scene() {
  static const Scene made = make_scene({.size = {67, 45}, .disparities = range.count, .noise = 3});
  return made;
}
inline StereoPair pair() { return {scene().left, scene().right, {}, {}}; }

// A refinement that changes nothing, so that results are those of the method, and calls `inside` once.
inline Plan plan_with(std::function<void()> inside, int batch = 1) {
  Pipeline pipeline("sgm");
  const auto called = std::make_shared<std::atomic<bool>>(false);
  pipeline.set_stage("refinement", {.name = "mine", .cpu = [inside, called](const UserCall&) {
                                      if (!called->exchange(true)) inside();
                                    }});
  Problem problem = Problem::of(pair(), range);
  problem.batch = batch;
  return Plan(pipeline, problem, {.name = "cpu"});
}
inline const Matched& expected() {
  static const Matched made = Matcher(plan_with([] {})).match(pair());
  return made;
}
inline void expect_expected(const Matched& result) {
  EXPECT_TRUE(same_bits(result.disparity.view(), expected().disparity.view()));
  EXPECT_TRUE(same_bits(result.validity.view(), expected().validity.view()));
}

template <class F>
void expect_inside_a_stage(F&& f) {
  try {
    f();
    ADD_FAILURE() << "not rejected";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::call);
    EXPECT_NE(std::string(error.what()).find("inside"), std::string::npos) << error.what();
  }
}

// Returns whether the future becomes ready soon, so that a deadlock fails the test instead of hanging it.
template <class T>
bool is_ready_soon(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
}

}  // namespace stereopsis::test::own_stage
