// Tests that pairs of one stream on several devices give the results of one device, in the same order.
#include "stereopsis/matcher_group.hpp"

#include <gtest/gtest.h>

#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::matcher_group_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 16};

std::vector<Scene> scenes() {
  std::vector<Scene> made;
  for (unsigned seed = 0; seed < 12; ++seed)
    made.push_back(make_scene({.size = {60, 40}, .disparities = 16, .seed = seed, .noise = 4}));
  return made;
}

StereoPair pair_of(const Scene& scene) { return {scene.left, scene.right, {}, {}}; }

Problem problem() {
  Problem p{.size = {60, 40}, .channels = 3, .range = range, .region = {}};
  p.batch = 2;
  return p;
}

TEST(MatcherGroup, GivesWhatOneDeviceGivesInTheOrderOfThePairs) {
  std::vector<Device> devices{{.name = "cpu"}, {.name = "cpu", .threads = 1, .implementation = Implementation::plain}};
  for (gpu::Device* device : gpu::usable_devices()) devices.push_back({.name = device->name()});
  const std::vector<Scene> frames = scenes();
  MatcherGroup group(Pipeline("sgm"), problem(), devices);
  EXPECT_EQ(group.in_flight(), 3 * static_cast<int>(devices.size()));
  std::size_t of_all = 0;
  for (const Device& device : devices) of_all += Plan(Pipeline("sgm"), problem(), device).workspace_bytes();
  EXPECT_EQ(group.workspace_bytes(), of_all);
  std::vector<StereoPair> pairs;
  for (const Scene& frame : frames) pairs.push_back(pair_of(frame));
  std::vector<Matched> results(frames.size());
  std::vector<Ticket> tickets;
  for (std::size_t i = 0; i < frames.size(); ++i) tickets.push_back(group.enqueue(pairs[i], results[i]));
  Matcher alone(Plan(Pipeline("sgm"), problem(), {.name = "cpu"}));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    group.wait(tickets[i]);
    EXPECT_TRUE(group.is_done(tickets[i]));
    EXPECT_TRUE(same_bits(results[i].disparity.view(), alone.match(pairs[i]).disparity)) << i;
  }
  EXPECT_TRUE(group.lost().empty());
}

TEST(MatcherGroup, TellsThePairThatSomethingIsWrongWithAndGoesOn) {
  const std::vector<Scene> frames = scenes();
  const std::vector<Device> devices{{.name = "cpu"}, {.name = "cpu", .threads = 1}};
  MatcherGroup group(Pipeline("sgm"), problem(), devices);
  const StereoPair good = pair_of(frames[0]);
  StereoPair bad = good;
  bad.right = bad.right.crop({0, 0, 50, 40});
  std::array<Matched, 3> results;
  const Ticket first = group.enqueue(good, results[0]), second = group.enqueue(bad, results[1]),
               third = group.enqueue(good, results[2]);
  EXPECT_NO_THROW(group.wait(first));
  EXPECT_THROW(group.wait(second), Error);
  EXPECT_NO_THROW(group.wait(third));
  EXPECT_THROW(group.wait(second), Error) << "again: its result is not written";
}

// A group treats tickets in the same way as a matcher.
TEST(MatcherGroup, TicketsOfOthersAreRejectedAndTheDefaultOneIsDone) {
  const Scene scene = scenes()[0];
  const std::vector<Device> devices{{.name = "cpu"}};
  // Declared first, so that they outlive the matchers, which still write to these results.
  Matched result, another, third;
  MatcherGroup one(Pipeline("sgm"), problem(), devices), other(Pipeline("sgm"), problem(), devices);
  Matcher matcher(Plan(Pipeline("sgm"), problem(), {.name = "cpu"}));
  const Ticket own = one.enqueue(pair_of(scene), result);
  for (const Ticket foreign : {other.enqueue(pair_of(scene), another), matcher.enqueue(pair_of(scene), third),
                               Ticket{99, own.matcher}, Ticket{0, 1}, Ticket{1, 0}}) {
    EXPECT_THROW(one.wait(foreign), Error);
    EXPECT_THROW(static_cast<void>(one.is_done(foreign)), Error);
  }
  EXPECT_THROW(matcher.wait(own), Error);
  EXPECT_NO_THROW(one.wait(Ticket()));
  EXPECT_TRUE(one.is_done(Ticket()));
  EXPECT_NO_THROW(matcher.wait(Ticket()));
  EXPECT_TRUE(matcher.is_done(Ticket()));
  EXPECT_NO_THROW(one.wait(own));
  EXPECT_NO_THROW(one.wait(own)) << "once more is no mistake";
}

TEST(MatcherGroup, WhatIsInWorkIsDoneBeforeItGoes) {
  const std::vector<Scene> frames = scenes();
  const StereoPair pair = pair_of(frames[1]);
  std::array<Matched, 4> results;
  {
    MatcherGroup group(Pipeline("sgm"), problem(), std::vector<Device>{{.name = "cpu"}, {.name = "cpu"}});
    for (Matched& result : results) group.enqueue(pair, result);
  }
  for (const Matched& result : results) EXPECT_TRUE(same_bits(result.disparity.view(), results[0].disparity));
  EXPECT_FALSE(results[3].disparity.empty());
}

TEST(MatcherGroup, IsRefusedWithoutADeviceOrOneThatCantDoIt) {
  EXPECT_THROW(MatcherGroup(Pipeline("sgm"), problem(), {}), Error);
  Problem large = problem();
  large.size = {4000, 3000};
  large.memory_limit = 1'000'000;
  try {
    MatcherGroup(Pipeline("zncc"), large, std::vector<Device>{{.name = "cpu"}, {.name = "cpu"}});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), ErrorCategory::memory);
  }
}

TEST(MatcherGroup, DevicesAreNamedInAList) {
  const auto names = [](const std::string& list) {
    std::string found;
    for (const Device& device : devices_of({.name = list, .threads = 3})) {
      EXPECT_EQ(device.threads, 3);
      found += device.name + " ";
    }
    return found;
  };
  EXPECT_EQ(names("cpu"), "cpu ");
  EXPECT_THROW(names("cpu,cpu"), Error);
  EXPECT_THROW(names("cpu,"), Error);
  EXPECT_THROW(names("cpu,gpu"), Error);
  std::string all;
  for (gpu::Device* device : gpu::usable_devices())
    if (device->name().starts_with("opencl")) all += device->name() + " ";
  if (!all.empty()) {
    EXPECT_EQ(names("cpu,opencl:*"), "cpu " + all);
  }
}

}  // namespace
}  // namespace stereopsis::matcher_group_test
