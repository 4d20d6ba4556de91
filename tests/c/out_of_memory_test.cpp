// Memory that runs out: functions that promise to throw nothing return a failure, whichever allocation fails. `operator new` of
// this program is the one of all its libraries.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "stereopsis.h"
#include "stereopsis/expected.hpp"
#include "stereopsis/synth.hpp"
#include "stereopsis/user_stage.hpp"
#include "support/stage_test.hpp"

namespace {

// Allocations of this thread that still succeed; below 0: all do.
thread_local long left = -1;
thread_local bool failed = false;

bool fails() {
  if (left < 0) return false;
  if (left == 0) return failed = true;
  --left;
  return false;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails()) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* p = allocate(bytes, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

namespace stereopsis {
namespace {

using namespace test;

constexpr int width = 48, height = 32;
constexpr DisparityRange range{0, 16};

const Scene& scene() {
  static const Scene made = make_scene({.size = {width, height}, .disparities = range.count});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }

// Calls f, whose allocations of this thread fail after the first `allowed` ones.
template <class F>
auto starved(long allowed, F&& f) {
  failed = false;
  left = allowed;
  auto result = f();
  left = -1;
  return result;
}

// Calls f(0), f(1), f(2), … until no allocation failed in it. Returns how many calls had one that did.
template <class F>
long for_each_failing_allocation(F&& f) {
  constexpr long most = 100'000;
  for (long allowed = 0; allowed < most; ++allowed) {
    f(allowed);
    if (!failed) return allowed;
  }
  ADD_FAILURE() << "does not end";
  return most;
}

// A value where no allocation failed; else a failure that says so, or a value that was made without the memory.
template <class T>
void expect_value_or_failure(const Expected<T>& result) {
  EXPECT_TRUE(result || failed);
  if (result) return;
  EXPECT_EQ(result.error().category, ErrorCategory::memory) << result.error().sentence;
  EXPECT_FALSE(result.error().sentence.empty());
}

class OutOfMemory : public testing::Test {
 protected:
  Plan plan(const Pipeline& pipeline = Pipeline("sgm")) const { return Plan(pipeline, problem, device); }
  static Pipeline with_stage(std::function<void(const UserCall&)> function) {
    Pipeline pipeline("sgm");
    pipeline.set_stage("refinement", {.name = "mine", .cpu = std::move(function)});
    return pipeline;
  }

  // Threads would allocate beside the test's: one alone does all.
  const Device device{.name = "cpu", .threads = 1};
  const Problem problem = Problem::of(pair(), range);
  const Matched expected = Matcher(plan()).match(pair());
};

TEST_F(OutOfMemory, PipelinesAreValuesOrFailures) {
  Pipeline pipeline("sgm");
  EXPECT_GT(for_each_failing_allocation([](long allowed) {
              expect_value_or_failure(starved(allowed, [] { return try_pipeline("sgm"); }));
            }),
            0);
  for_each_failing_allocation([&](long allowed) {
    expect_value_or_failure(starved(allowed, [&] { return try_set(pipeline, "sgm.paths", "4"); }));
  });
  for_each_failing_allocation([&](long allowed) {
    expect_value_or_failure(starved(allowed, [&] { return try_get(pipeline, "sgm.paths"); }));
  });
}

// The sentence of another failure takes memory, too.
TEST_F(OutOfMemory, AWrongNameIsAFailureInAnyCase) {
  for_each_failing_allocation([](long allowed) {
    const auto none = starved(allowed, [] { return try_pipeline("no method has such a long name"); });
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().category, failed ? none.error().category : ErrorCategory::call);
    EXPECT_FALSE(none.error().sentence.empty());
  });
}

TEST_F(OutOfMemory, PlansAndMatchersAreValuesOrFailures) {
  const Pipeline pipeline("sgm");
  EXPECT_GT(for_each_failing_allocation([&](long allowed) {
              expect_value_or_failure(starved(allowed, [&] { return try_plan(pipeline, problem, device); }));
            }),
            0);
  const Plan made = plan();
  EXPECT_GT(for_each_failing_allocation([&](long allowed) {
              expect_value_or_failure(starved(allowed, [&] { return try_matcher(made); }));
            }),
            0);
}

TEST_F(OutOfMemory, MatchesAreResultsOrFailures) {
  EXPECT_GT(for_each_failing_allocation([&](long allowed) {
              Matcher matcher(plan());
              Matched result;
              const Done done = starved(allowed, [&] { return try_match(matcher, pair(), result); });
              expect_value_or_failure(done);
              if (done) {
                EXPECT_TRUE(same_bits(result.disparity.view(), expected.disparity.view()));
              }
              const bool had_failure = failed;
              matcher.match(pair(), result);  // the matcher goes on
              failed = had_failure;
              EXPECT_TRUE(same_bits(result.disparity.view(), expected.disparity.view()));
            }),
            0);
}

TEST_F(OutOfMemory, PairsInFlightAreResultsOrFailures) {
  for_each_failing_allocation([&](long allowed) {
    Matched result;  // it outlives the matcher
    Matcher matcher(plan());
    const auto ticket = starved(allowed, [&] { return try_enqueue(matcher, pair(), result); });
    expect_value_or_failure(ticket);
    EXPECT_TRUE(try_wait(matcher, ticket ? *ticket : Ticket()));
    if (ticket) {
      EXPECT_TRUE(same_bits(result.disparity.view(), expected.disparity.view()));
    }
  });
}

// Where there is no memory to keep a pair's error while the next pair begins, the error is not lost.
TEST_F(OutOfMemory, TheErrorOfAPairStays) {
  const Pipeline failing = with_stage([](const UserCall&) { throw std::runtime_error("boom"); });
  EXPECT_GT(for_each_failing_allocation([&](long allowed) {
              Matched first, second;  // they outlive the matcher, which still writes to them
              Matcher matcher(plan(failing));
              const Ticket ticket = matcher.enqueue(pair(), first);
              second = Matched(expected);
              expect_value_or_failure(starved(allowed, [&] { return try_enqueue(matcher, pair(), second); }));
              for (int again = 0; again < 2; ++again) {
                const Done waited = try_wait(matcher, ticket);
                ASSERT_FALSE(waited);
                EXPECT_NE(waited.error().sentence.find("boom"), std::string::npos) << waited.error().sentence;
              }
            }),
            0);
}

TEST_F(OutOfMemory, OfAStageIsAFailure) {
  Matcher matcher(plan(with_stage([](const UserCall&) { throw std::bad_alloc(); })));
  Matched result;
  EXPECT_FALSE(try_match(matcher, pair(), result));
}

TEST_F(OutOfMemory, TheCInterfaceReturnsAStatus) {
  sp_problem p{};
  p.struct_size = sizeof p;
  p.width = width, p.height = height, p.channels = 3, p.disparities = range.count, p.threads = 1;
  p.device = "cpu";
  const auto expect_status = [](sp_status status, bool made) {
    EXPECT_EQ(made, status == SP_OK);
    EXPECT_TRUE(status == SP_OK || (failed && status == SP_ERROR_MEMORY)) << sp_last_error();
    if (status != SP_OK) {
      EXPECT_NE(std::string(sp_last_error()).find("memory"), std::string::npos) << sp_last_error();
    }
  };
  EXPECT_GT(for_each_failing_allocation([&](long allowed) {
              sp_pipeline* pipeline = nullptr;
              const sp_status status = starved(allowed, [&] { return sp_pipeline_create("sgm", &pipeline); });
              expect_status(status, pipeline != nullptr);
              EXPECT_EQ(sp_pipeline_destroy(pipeline), SP_OK);
            }),
            0);
  sp_pipeline* pipeline = nullptr;
  ASSERT_EQ(sp_pipeline_create("sgm", &pipeline), SP_OK);
  EXPECT_GT(for_each_failing_allocation([&](long allowed) {
              sp_matcher* matcher = nullptr;
              const sp_status status = starved(allowed, [&] { return sp_matcher_create(pipeline, &p, &matcher); });
              expect_status(status, matcher != nullptr);
              EXPECT_EQ(sp_matcher_destroy(matcher), SP_OK);
            }),
            0);
  // The sentence of a wrong call is whole, or says that there is no memory.
  for_each_failing_allocation([&](long allowed) {
    EXPECT_NE(starved(allowed, [&] { return sp_pipeline_set(pipeline, "sgm.p1", "no number at all"); }), SP_OK);
    const std::string said = sp_last_error();
    EXPECT_TRUE(said.find("no number at all") != std::string::npos || said.find("memory") != std::string::npos) << said;
  });
  EXPECT_EQ(sp_pipeline_destroy(pipeline), SP_OK);
}

}  // namespace
}  // namespace stereopsis
