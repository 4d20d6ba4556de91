// Tests of matchers in a oneTBB arena of the caller.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <atomic>
#include <optional>

#include "stereopsis/matcher.hpp"
#include "stereopsis/resources.hpp"
#include "stereopsis/synth.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::arena_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};

// An observer that counts how often threads enter an arena.
class Entries : public tbb::task_scheduler_observer {
 public:
  explicit Entries(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
  ~Entries() override { observe(false); }
  void on_scheduler_entry(bool) override { ++count_; }
  int count() const { return count_; }

 private:
  std::atomic<int> count_ = 0;
};

// Waits for the threads of oneTBB to end. A thread that is still in an arena when the program ends would use a
// destroyed observer.
class Workers {
#if TBB_INTERFACE_VERSION >= 12060
 public:
  ~Workers() { EXPECT_TRUE(tbb::finalize(handle_, std::nothrow)); }

 private:
  tbb::task_scheduler_handle handle_{tbb::attach{}};
#else
 public:
  Workers() {}
#endif
};

TEST(Threads, LeaveTheProcesssLimitAlone) {
  const auto limit = [] { return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism); };
  const std::size_t before = limit();
  const int asked = static_cast<int>(before) + 6;
  const Scene scene = make_scene({.size = {97, 65}, .disparities = range.count});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  Matcher many(Plan(Pipeline("sgm"), Problem::of(pair, range), {.name = "cpu", .threads = asked}));
  EXPECT_EQ(limit(), before);
  EXPECT_TRUE(same_bits(many.match(pair).disparity.view(),
                        match(pair, range, Pipeline("sgm"), {.name = "cpu", .threads = 1}).disparity.view()));
}

TEST(CallersArena, DoesTheWork) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "under the thread sanitizer threads of our own do the work, not oneTBB's";
#endif
#if TBB_INTERFACE_VERSION < 12060
  GTEST_SKIP() << "this oneTBB cannot wait for the end of its threads; 2021.6 and later can";
#endif
  const Scene scene = make_scene({.size = {97, 65}, .disparities = range.count});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  const Matched expected = match(pair, range, Pipeline("sgm"), {.name = "cpu", .threads = 2});
  Workers workers;
  tbb::task_arena arena(2), other(1);
  Entries entries(arena);
  std::optional<Matcher> matcher;
  arena.execute([&] {
    matcher.emplace(Plan(Pipeline("sgm"), Problem::of(pair, range), {.name = "cpu", .threads = callers_arena}));
  });
  EXPECT_EQ(matcher->plan().workspace_bytes(),
            Plan(Pipeline("sgm"), Problem::of(pair, range), {.name = "cpu", .threads = 2}).workspace_bytes());
  int before = entries.count();
  EXPECT_TRUE(same_bits(matcher->match(pair).disparity.view(), expected.disparity.view()));
  EXPECT_GT(entries.count(), before);

  // Enqueued work runs on another thread, in the same arena.
  before = entries.count();
  Matched result;
  matcher->wait(matcher->enqueue(pair, result));
  EXPECT_TRUE(same_bits(result.disparity.view(), expected.disparity.view()));
  EXPECT_GT(entries.count(), before);

  other.execute([&] { EXPECT_THROW(Matcher(matcher->plan()), Error); });
}

}  // namespace
}  // namespace stereopsis::arena_test
