// Pairs that fail while others are in flight: each error belongs to its own pair, and no other pair is affected.
#include <gtest/gtest.h>

#include <map>

#include "stereopsis/async.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/synth.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::failing_pairs_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};
constexpr int frames = 5;
constexpr float unwritten = -77;

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> made = [] {
    std::vector<Scene> list;
    for (std::uint64_t seed = 1; seed <= frames; ++seed)
      list.push_back(make_scene({.size = {67, 45}, .disparities = range.count, .seed = seed, .noise = 3}));
    return list;
  }();
  return made;
}
StereoPair pair(int i) { return {scenes()[i].left, scenes()[i].right, {}, {}}; }

// Returns the frame by the contents of the image, because a group's devices take pairs in any order.
int frame_of(const UserCall& call) {
  const auto seen = on_host<const std::uint8_t>(call.reference);
  for (int i = 0; i < frames; ++i) {
    const Image<std::uint8_t>& left = scenes()[i].left;
    bool same = true;
    for (int y = 0; y < seen.height && same; ++y)
      for (int x = 0; x < seen.width && same; ++x) same = left(x, y, 0) == seen(x, y, 0);
    if (same) return i;
  }
  return -1;
}

// A pipeline whose stage fails for one frame; −1 means that it fails for no frame.
Pipeline pipeline(int failing_frame) {
  Pipeline p("sgm");
  p.set_stage("cost", {.name = "mine", .cpu = [failing_frame](const UserCall& call) {
                         const int frame = frame_of(call);
                         EXPECT_GE(frame, 0);
                         if (frame == failing_frame) throw std::runtime_error("frame " + std::to_string(frame));
                         const auto made = on_host<std::uint8_t>(call.made);
                         const auto a = on_host<const std::uint8_t>(call.reference),
                                    b = on_host<const std::uint8_t>(call.other);
                         for (int y = 0; y < made.height; ++y)
                           for (int x = 0; x < made.width; ++x)
                             for (int k = 0; k < made.channels; ++k)
                               made(x, y, k) = static_cast<std::uint8_t>(
                                   std::abs(a(x, y, 0) - b.clamped(x - call.range.min - k, y, 0)));
                       }});
  return p;
}

const Device cpu{.name = "cpu", .threads = 1};

Problem problem(int batch) {
  Problem p = Problem::of(pair(0), range);
  p.batch = batch;
  return p;
}

const std::vector<Matched>& expected() {
  static const std::vector<Matched> made = [] {
    std::vector<Matched> list;
    Matcher alone(Plan(pipeline(-1), problem(1), cpu));
    for (int i = 0; i < frames; ++i) list.push_back(alone.match(pair(i)));
    return list;
  }();
  return made;
}

// All combinations of a batch and the frame that fails.
class FailingPairs : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  int batch() const { return std::get<0>(GetParam()); }
  int failing() const { return std::get<1>(GetParam()); }
  Plan plan() { return Plan(pipeline(failing()), problem(batch()), cpu); }

  // Enqueues all frames and waits for them in the given order. Only wait() for the failing frame may throw.
  template <class AnyMatcher>
  void expect_own_error(AnyMatcher& matcher, const std::vector<int>& order) {
    std::vector<Matched> results(frames);
    std::vector<Ticket> tickets(frames);
    for (int i = 0; i < frames; ++i) {
      results[i].disparity = Image<float>({67, 45}, 1, unwritten);
      ASSERT_NO_THROW(tickets[i] = matcher.enqueue(pair(i), results[i])) << i;
    }
    for (const int i : order)
      for (int again = 0; again < 2; ++again)  // a second wait() throws the same error
        if (i == failing())
          expect_error(i, [&] { matcher.wait(tickets[i]); });
        else
          EXPECT_NO_THROW(matcher.wait(tickets[i])) << i;
    for (int i = 0; i < frames; ++i) {
      EXPECT_TRUE(matcher.is_done(tickets[i]));
      if (i != failing()) {
        EXPECT_TRUE(same_bits(results[i].disparity.view(), expected()[i].disparity.view())) << i;
      }
    }
    EXPECT_NO_THROW(matcher.wait(Ticket())) << "of no pair, whatever the first one came to";
  }

  template <class F>
  static void expect_error(int frame, F&& f) {
    try {
      f();
      ADD_FAILURE() << "the failing frame " << frame << " has no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("frame " + std::to_string(frame)), std::string::npos) << error.what();
    }
  }
};

TEST_P(FailingPairs, AMatcherTellsEachPairItsOwnError) {
  for (const std::vector<int>& order : {std::vector<int>{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}}) {
    Matcher matcher(plan());
    expect_own_error(matcher, order);
  }
}

TEST_P(FailingPairs, AMatcherOfARegionToo) {
  Problem p = problem(batch());
  p.region = Rect{0, 0, 67, 45};
  Matcher matcher(Plan(pipeline(failing()), p, cpu));
  expect_own_error(matcher, {0, 1, 2, 3, 4});
}

TEST_P(FailingPairs, AGroupTellsEachPairItsOwnError) {
  for (const std::vector<Device>& devices : {std::vector<Device>{cpu}, {cpu, cpu}}) {
    MatcherGroup group(pipeline(failing()), problem(batch()), devices);
    expect_own_error(group, {0, 1, 2, 3, 4});
    EXPECT_TRUE(group.lost().empty());
  }
}

TEST_P(FailingPairs, AnAsyncMatcherTellsEachPairItsOwnError) {
  AsyncMatcher matcher(plan());
  std::vector<std::future<Matched>> futures;
  std::map<int, bool> failed;
  for (int i = 0; i < frames; ++i) futures.push_back(matcher.submit(pair(i)));
  for (int i = 0; i < frames; ++i)
    matcher.submit(pair(i), [&failed, i](const Matched& result, std::exception_ptr error) {
      failed[i] = error != nullptr;
      EXPECT_EQ(result.disparity.empty(), error != nullptr);
    });
  for (int i = 0; i < frames; ++i)
    if (i == failing())
      expect_error(i, [&] { futures[i].get(); });
    else
      EXPECT_TRUE(same_bits(futures[i].get().disparity.view(), expected()[i].disparity.view())) << i;
  matcher.wait();
  for (int i = 0; i < frames; ++i) EXPECT_EQ(failed[i], i == failing()) << i;
}

TEST_P(FailingPairs, MatchInBetweenHasItsOwnErrorAlone) {
  Matcher matcher(plan());
  Matched first, second;
  const int good = failing() == 0 ? 1 : 0;
  const Ticket bad = matcher.enqueue(pair(failing()), first);
  EXPECT_NO_THROW(matcher.match(pair(good), second));
  EXPECT_TRUE(same_bits(second.disparity.view(), expected()[good].disparity.view()));
  expect_error(failing(), [&] { matcher.wait(bad); });
}

INSTANTIATE_TEST_SUITE_P(BatchesAndFrames, FailingPairs,
                         testing::Combine(testing::Values(1, 2, 3), testing::Range(0, frames)));

}  // namespace
}  // namespace stereopsis::failing_pairs_test
