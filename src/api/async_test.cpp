// Tests of AsyncMatcher, which matches submitted pairs on its own thread, and of errors as values.
#include "stereopsis/async.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stereopsis/expected.hpp"
#include "stereopsis/synth.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::async_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};

struct Sequence {
  Sequence() {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      scenes.push_back(make_scene({.size = {67, 45}, .disparities = range.count, .seed = seed}));
      expected.push_back(match(pair(scenes.size() - 1), range, Pipeline("sgm"), {.name = "cpu"}));
    }
  }
  StereoPair pair(std::size_t i) const { return {scenes[i].left, scenes[i].right, {}, {}}; }
  Plan plan(int batch) const {
    Problem problem = Problem::of(pair(0), range);
    problem.batch = batch;
    return Plan(Pipeline("sgm"), problem, {.name = "cpu"});
  }
  std::vector<Scene> scenes;
  std::vector<Matched> expected;
};
const Sequence& sequence() {
  static const Sequence made;
  return made;
}

TEST(Async, FuturesHaveTheResults) {
  for (const int batch : {1, 3}) {
    AsyncMatcher matcher(sequence().plan(batch));
    std::vector<std::future<Matched>> futures;
    for (std::size_t i = 0; i < 5; ++i) futures.push_back(matcher.submit(sequence().pair(i)));
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_TRUE(same_bits(futures[i].get().disparity.view(), sequence().expected[i].disparity.view()));
  }
}

TEST(Async, CallbacksComeInOrder) {
  std::vector<std::size_t> order;
  AsyncMatcher matcher(sequence().plan(3));
  for (std::size_t i = 0; i < 5; ++i)
    matcher.submit(sequence().pair(i), [&order, i](Matched result, std::exception_ptr error) {
      EXPECT_FALSE(error);
      EXPECT_TRUE(same_bits(result.disparity.view(), sequence().expected[i].disparity.view()));
      order.push_back(i);
      if (i == 1) throw std::runtime_error("of the callback, and lost");
    });
  matcher.wait();
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(Async, APairThatDoesNotFitFailsAlone) {
  AsyncMatcher matcher(sequence().plan(2));
  const Image<std::uint8_t> small({10, 10}, 3, 0);
  auto before = matcher.submit(sequence().pair(0)), wrong = matcher.submit({small, small, {}, {}}),
       after = matcher.submit(sequence().pair(1));
  EXPECT_FALSE(before.get().disparity.empty());
  EXPECT_THROW(wrong.get(), Error);
  EXPECT_TRUE(same_bits(after.get().disparity.view(), sequence().expected[1].disparity.view()));
  EXPECT_THROW(matcher.submit(sequence().pair(0), AsyncMatcher::Callback()), Error);
}

TEST(Async, KeepsTheOwnerAndEndsWhatItWasGiven) {
  auto scene = std::make_shared<Scene>(make_scene({.size = {67, 45}, .disparities = range.count, .seed = 1}));
  const std::weak_ptr<Scene> watched = scene;
  std::future<Matched> future;
  {
    AsyncMatcher matcher(sequence().plan(1));
    const StereoPair pair{scene->left, scene->right, {}, {}};
    future = matcher.submit(pair, std::move(scene));
    AsyncMatcher moved = std::move(matcher);
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_TRUE(same_bits(future.get().disparity.view(), sequence().expected[0].disparity.view()));
}

TEST(Async, ManyThreadsGive) {
  AsyncMatcher matcher(sequence().plan(2));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      right +=
          same_bits(matcher.submit(sequence().pair(i)).get().disparity.view(), sequence().expected[i].disparity.view());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

TEST(Expected, HasWhatCameOrWhyNothingDid) {
  const Expected<Pipeline> none = try_pipeline("sgmm");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().category, ErrorCategory::call);
  EXPECT_NE(none.error().sentence.find("sgm"), std::string::npos);
  Expected<Pipeline> pipeline = try_pipeline("sgm");
  ASSERT_TRUE(pipeline);
  EXPECT_FALSE(try_set(*pipeline, "sgm.paths", "5"));
  EXPECT_TRUE(try_set(*pipeline, "sgm.paths", "4"));
  EXPECT_EQ(*try_get(*pipeline, "sgm.paths"), "4");
  const StereoPair pair = sequence().pair(0);
  EXPECT_EQ(try_plan(*pipeline, Problem::of(pair, range), {.name = "no device"}).error().category, ErrorCategory::call);
  Expected<Plan> plan = try_plan(*pipeline, Problem::of(pair, range), {.name = "cpu"});
  ASSERT_TRUE(plan);
  Expected<Matcher> matcher = try_matcher(*plan);
  ASSERT_TRUE(matcher);
  Matched result;
  ASSERT_TRUE(try_match(*matcher, pair, result));
  EXPECT_TRUE(same_bits(result.disparity.view(), sequence().expected[0].disparity.view()));
  Image<float> place(67, 45);
  MatchedViews views;
  views.disparity = place;
  const Expected<Ticket> ticket = try_enqueue(*matcher, pair, views);
  ASSERT_TRUE(ticket);
  EXPECT_TRUE(try_wait(*matcher, *ticket));
  EXPECT_TRUE(same_bits(place.view(), sequence().expected[0].disparity.view()));
  EXPECT_FALSE(try_wait(*matcher, {ticket->number, ticket->matcher + 1}));
  const Image<std::uint8_t> small({10, 10}, 3, 0);
  EXPECT_NE(try_match(*matcher, {small, small, {}, {}}, result).error().sentence.find("10×10"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::async_test
