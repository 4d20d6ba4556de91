// Matchers that are used, waited for or destroyed inside their own stages and callbacks: a sentence, no deadlock, no wrong result.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <optional>

#include "stereopsis/async.hpp"
#include "stereopsis/expected.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};

const Scene& scene() {
  static const Scene made = make_scene({.size = {67, 45}, .disparities = range.count, .noise = 3});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }

// A refinement that changes nothing, so that results are those of the method, and calls `inside` once.
Plan plan_with(std::function<void()> inside, int batch = 1) {
  Pipeline pipeline("sgm");
  pipeline.set_stage("refinement", {.name = "mine", .cpu = [inside, done = std::make_shared<bool>(false)](
                                                               const UserCall&) {
                                      if (std::exchange(*done, true)) return;
                                      inside();
                                    }});
  Problem problem = Problem::of(pair(), range);
  problem.batch = batch;
  return Plan(pipeline, problem, {.name = "cpu"});
}
const Matched& expected() {
  static const Matched made = Matcher(plan_with([] {})).match(pair());
  return made;
}
void expect_expected(const Matched& result) {
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

// Whether the future is ready soon: a deadlock fails the test instead of hanging it.
template <class T>
bool is_ready_soon(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
}

TEST(OwnStage, AMatcherIsNotUsedInside) {
  Matcher* own = nullptr;
  Matched other;
  Ticket ticket;
  int calls = 0;
  const auto use = [&] {
    ++calls;
    EXPECT_TRUE(own->is_in_own_stage());
    std::vector<StereoPair> pairs{pair()};
    std::vector<Matched> results(1);
    MatchedViews views;
    Image<float> disparity(67, 45);
    views.disparity = disparity;
    expect_inside_a_stage([&] { own->match(pair()); });
    expect_inside_a_stage([&] { own->match(pair(), other); });
    expect_inside_a_stage([&] { own->match(pair(), views); });
    expect_inside_a_stage([&] { own->match(pairs, results); });
    expect_inside_a_stage([&] { own->enqueue(pair(), other); });
    expect_inside_a_stage([&] { own->enqueue(pair(), views); });
    expect_inside_a_stage([&] { own->enqueue(DevicePair(), DeviceMatched()); });
    expect_inside_a_stage([&] { own->wait(ticket); });
    expect_inside_a_stage([&] { static_cast<void>(own->is_done(ticket)); });
    EXPECT_FALSE(try_match(*own, pair(), other));
    EXPECT_FALSE(try_enqueue(*own, pair(), other));
    EXPECT_FALSE(try_wait(*own, Ticket()));
    EXPECT_EQ(own->plan().problem().range, range);
    EXPECT_TRUE(other.disparity.empty());
    // Another matcher may be used.
    Matcher another(plan_with([] {}));
    EXPECT_FALSE(another.is_in_own_stage());
    expect_expected(another.match(pair()));
    EXPECT_TRUE(own->is_in_own_stage());
  };
  {
    Matcher matcher(plan_with(use));
    own = &matcher;
    expect_expected(matcher.match(pair()));
    EXPECT_FALSE(matcher.is_in_own_stage());
    expect_expected(matcher.match(pair()));
  }
  for (const int batch : {1, 2}) {
    Matcher matcher(plan_with(use, batch));
    own = &matcher;
    Matched result;
    ticket = matcher.enqueue(pair(), result);
    matcher.wait(ticket);
    expect_expected(result);
    ticket = {};
  }
  EXPECT_EQ(calls, 3);
}

// What the stage does not catch ends the match.
TEST(OwnStage, TheSentenceEndsTheMatch) {
  Matcher* own = nullptr;
  Matcher matcher(plan_with([&] { own->match(pair()); }));
  own = &matcher;
  expect_inside_a_stage([&] { matcher.match(pair()); });
  expect_expected(matcher.match(pair()));
}

// In a process of its own, as the memory stays allocated.
template <class F>
void expect_no_harm(F&& f) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        f();
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

void destroy_a_matcher_inside() {
  std::optional<Matcher> matcher;
  Matched result;
  matcher.emplace(plan_with([&] { matcher.reset(); }));
  matcher->match(pair(), result);
  expect_expected(result);
  EXPECT_FALSE(matcher);
  std::promise<void> destroyed;
  matcher.emplace(plan_with([&] {
    matcher.reset();
    destroyed.set_value();
  }));
  matcher->enqueue(pair(), result);
  EXPECT_TRUE(is_ready_soon(destroyed.get_future()));
}
TEST(OwnStage, AMatcherThatIsDestroyedInsideDoesNoHarm) { expect_no_harm(destroy_a_matcher_inside); }

TEST(OwnStage, AGroupIsNotUsedInside) {
  MatcherGroup* own = nullptr;
  Ticket ticket;
  Matched other;
  std::promise<void> enqueued;
  int calls = 0;
  const Plan plan = plan_with([&, go = enqueued.get_future().share()] {
    ++calls;
    go.wait();
    expect_inside_a_stage([&] { own->wait(ticket); });
    expect_inside_a_stage([&] { own->enqueue(pair(), other); });
  });
  MatcherGroup group(plan.pipeline(), plan.problem(), std::vector<Device>{{.name = "cpu"}, {.name = "cpu"}});
  own = &group;
  Matched result;
  ticket = group.enqueue(pair(), result);
  enqueued.set_value();
  group.wait(ticket);
  expect_expected(result);
  EXPECT_EQ(calls, 1);
}

void destroy_a_group_inside() {
  std::optional<MatcherGroup> group;
  std::promise<void> enqueued, destroyed;
  const Plan plan = plan_with([&, go = enqueued.get_future().share()] {
    go.wait();
    group.reset();
    destroyed.set_value();
  });
  group.emplace(plan.pipeline(), plan.problem(), std::vector<Device>{{.name = "cpu"}});
  Matched result;
  group->enqueue(pair(), result);
  enqueued.set_value();
  EXPECT_TRUE(is_ready_soon(destroyed.get_future()));
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);  // the group still writes the result
}
TEST(OwnStage, AGroupThatIsDestroyedInsideDoesNoHarm) { expect_no_harm(destroy_a_group_inside); }

TEST(OwnCallback, AnAsyncMatcherIsNotWaitedForInside) {
  AsyncMatcher matcher(plan_with([] {}));
  std::promise<void> done;
  matcher.submit(pair(), [&](const Matched& result, std::exception_ptr) {
    expect_expected(result);
    expect_inside_a_stage([&] { matcher.wait(); });
    done.set_value();
  });
  ASSERT_TRUE(is_ready_soon(done.get_future()));
  matcher.wait();
  // A pair that a callback submits is done.
  std::promise<Matched> second;
  matcher.submit(pair(), [&](const Matched&, std::exception_ptr) {
    matcher.submit(pair(), [&](Matched result, std::exception_ptr) { second.set_value(std::move(result)); });
  });
  std::future<Matched> result = second.get_future();
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());
}

TEST(OwnCallback, AnAsyncMatcherIsNotWaitedForInItsStage) {
  AsyncMatcher* own = nullptr;
  AsyncMatcher matcher(plan_with([&] { expect_inside_a_stage([&] { own->wait(); }); }));
  own = &matcher;
  std::future<Matched> result = matcher.submit(pair());
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());
}

// The pairs that were submitted before are done, their callbacks called, and everything is freed.
TEST(OwnCallback, AnAsyncMatcherThatIsDestroyedInsideEndsWhatItWasGiven) {
  for (const int batch : {1, 3}) {
    auto matcher = std::make_unique<AsyncMatcher>(plan_with([] {}, batch));
    std::promise<void> submitted, destroyed, freed;
    std::shared_ptr<int> owner(new int, [&](int* p) {
      delete p;
      freed.set_value();
    });
    matcher->submit(pair(), [&, go = submitted.get_future().share()](const Matched&, std::exception_ptr) {
      go.wait();
      matcher.reset();
      destroyed.set_value();
    });
    std::future<Matched> after = matcher->submit(pair(), owner);
    matcher->submit(pair(), [owner](const Matched& result, std::exception_ptr) { expect_expected(result); }, owner);
    owner.reset();
    submitted.set_value();
    ASSERT_TRUE(is_ready_soon(destroyed.get_future()));
    EXPECT_EQ(matcher, nullptr);
    ASSERT_TRUE(is_ready_soon(after));
    expect_expected(after.get());
    ASSERT_TRUE(is_ready_soon(freed.get_future()));
  }
}

TEST(OwnCallback, AnAsyncMatcherMayBeReplacedOrDestroyedInItsStage) {
  std::optional<AsyncMatcher> matcher;
  std::promise<void> submitted;
  matcher.emplace(plan_with([&, go = submitted.get_future().share()] {
    go.wait();
    matcher.reset();
  }));
  std::future<Matched> result = matcher->submit(pair());
  submitted.set_value();
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());

  AsyncMatcher replaced(plan_with([] {}));
  std::promise<void> done;
  replaced.submit(pair(), [&](const Matched&, std::exception_ptr) {
    replaced = AsyncMatcher(plan_with([] {}));
    done.set_value();
  });
  ASSERT_TRUE(is_ready_soon(done.get_future()));
  expect_expected(replaced.submit(pair()).get());
}

// An owner that holds the matcher is freed on the matcher's thread.
TEST(OwnCallback, AnOwnerMayHoldTheMatcher) {
  auto holder = std::make_shared<std::optional<AsyncMatcher>>();
  holder->emplace(plan_with([] {}));
  std::future<Matched> result = (*holder)->submit(pair(), holder);
  holder.reset();
  ASSERT_TRUE(is_ready_soon(result));
  expect_expected(result.get());
}

TEST(Thrown, AnythingButAnExceptionIsASentence) {
  Pipeline pipeline("sgm");
  pipeline.set_stage("refinement", {.name = "mine", .cpu = [](const UserCall&) { throw 1; }});
  const Plan plan(pipeline, Problem::of(pair(), range), {.name = "cpu"});
  const std::string said = "the stage 'mine' of the caller's threw something that is not a std::exception";
  Matcher matcher(plan);
  const auto expect_said = [&](auto&& f) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::call);
      EXPECT_EQ(std::string(error.what()).substr(0, said.size()), said);
    }
  };
  Matched result;
  expect_said([&] { matcher.match(pair()); });
  expect_said([&] { matcher.wait(matcher.enqueue(pair(), result)); });
  const Done tried = try_match(matcher, pair(), result);
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().sentence.substr(0, said.size()), said);
  const Expected<Ticket> ticket = try_enqueue(matcher, pair(), result);
  ASSERT_TRUE(ticket);
  EXPECT_FALSE(try_wait(matcher, *ticket));
  AsyncMatcher async(plan);
  expect_said([&] { async.submit(pair()).get(); });
  // At planning, a function of the caller's is called directly.
  pipeline.set_stage("refinement", {.name = "mine", .cpu = [](const UserCall&) {}, .required_input = [](const Rect&) -> Rect {
                                      throw 1;
                                    }});
  Problem region = Problem::of(pair(), range);
  region.region = Rect{10, 10, 20, 20};
  expect_said([&] { Plan(pipeline, region, {.name = "cpu"}); });
  const Expected<Plan> planned = try_plan(pipeline, region, {.name = "cpu"});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().category, ErrorCategory::call);
  EXPECT_NE(planned.error().sentence.find("not a std::exception"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis
