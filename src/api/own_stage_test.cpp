// Matchers and groups that are used, waited for or destroyed inside their own stages.
#include <array>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>

#include "stereopsis/async.hpp"
#include "stereopsis/expected.hpp"
#include "stereopsis/matcher_group.hpp"
#include "support/own_stage.hpp"

namespace stereopsis::own_stage_test {
namespace {

using namespace test;
using namespace test::own_stage;

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
    // A stage may use another matcher.
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

// An error that the stage does not catch ends the match.
TEST(OwnStage, TheSentenceEndsTheMatch) {
  Matcher* own = nullptr;
  Matcher matcher(plan_with([&] { own->match(pair()); }));
  own = &matcher;
  expect_inside_a_stage([&] { matcher.match(pair()); });
  expect_expected(matcher.match(pair()));
}

// Runs `f` in a separate process, because the memory of its matcher is never freed.
template <class F>
void expect_no_harm(F&& f) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
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

// All pairs enqueued earlier are matched. Then all memory is freed, including the stages and the objects that they
// hold.
TEST(OwnStage, AGroupThatIsDestroyedInsideEndsWhatItWasGiven) {
  for (const std::size_t devices : {1u, 2u}) {
    std::optional<MatcherGroup> group;
    std::promise<void> enqueued, destroyed, freed;
    {
      const std::shared_ptr<int> held(new int, [&](const int* p) {
        delete p;
        freed.set_value();
      });
      const auto destroy = [&, held, go = enqueued.get_future().share()] {
        go.wait();
        group.reset();
        destroyed.set_value();
      };
      const Plan plan = plan_with(destroy, 2);
      group.emplace(plan.pipeline(), plan.problem(), std::vector<Device>(devices, {.name = "cpu"}));
    }
    std::array<Matched, 2> results;
    for (Matched& result : results) group->enqueue(pair(), result);
    enqueued.set_value();
    ASSERT_TRUE(is_ready_soon(destroyed.get_future()));
    ASSERT_TRUE(is_ready_soon(freed.get_future()));
    for (const Matched& result : results) expect_expected(result);
  }
}

TEST(Thrown, AnythingButAnExceptionIsASentence) {
  Pipeline pipeline("sgm");
  pipeline.set_stage("refinement", {.name = "mine", .cpu = [](const UserCall&) { throw 1; }});
  const Plan plan(pipeline, Problem::of(pair(), range), {.name = "cpu"});
  const std::string said = "the stage 'mine' threw an object that is not a std::exception";
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
  // The planner calls a user-defined required_input directly.
  pipeline.set_stage(
      "refinement",
      {.name = "mine", .cpu = [](const UserCall&) {}, .required_input = [](const Rect&) -> Rect { throw 1; }});
  Problem region = Problem::of(pair(), range);
  region.region = Rect{10, 10, 20, 20};
  expect_said([&] { Plan(pipeline, region, {.name = "cpu"}); });
  const Expected<Plan> planned = try_plan(pipeline, region, {.name = "cpu"});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().category, ErrorCategory::call);
  EXPECT_NE(planned.error().sentence.find("not a std::exception"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::own_stage_test
