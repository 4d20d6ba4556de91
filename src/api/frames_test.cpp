// Tests that several pairs in flight, images on the device, and bands under a memory limit do not change any result.
#include <chrono>
#include <thread>

#include "stereopsis/matcher.hpp"
#include "stereopsis/roofs.hpp"
#include "stereopsis/self_test.hpp"
#include "stereopsis/stream_mark.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::frames_test {
namespace {

using namespace test;

constexpr Size size{93, 61};
constexpr DisparityRange range{0, 24};

// A sequence of different scenes, and the result of a method for each scene alone.
struct Sequence {
  explicit Sequence(int count, const std::string& method_ = "sgm") : method(method_) {
    for (int i = 0; i < count; ++i) {
      scenes.push_back(make_scene(
          {.size = size, .disparities = range.count, .seed = static_cast<std::uint64_t>(i + 1), .noise = 2}));
      expected.push_back(match(pair(i), range, Pipeline(method), {"cpu", 0}));
    }
  }
  StereoPair pair(int i) const { return {scenes[i].left, scenes[i].right, {}, {}}; }
  Problem problem(int batch) const {
    Problem p = Problem::of(pair(0), range);
    p.batch = batch;
    return p;
  }

  std::string method;
  std::vector<Scene> scenes;
  std::vector<Matched> expected;
};

void expect_same(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
}

std::vector<std::string> all_devices() {
  std::vector<std::string> names = {"cpu"};
  for (const gpu::Device* device : gpu::usable_devices()) names.push_back(device->name());
  return names;
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Frames, InFlightAreAsOnesAlone) {
  const Sequence sequence(7);
  for (const std::string& device : all_devices())
    for (const int batch : {1, 3, 12}) {
      SCOPED_TRACE(device + ", batch " + std::to_string(batch));
      Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(batch), {device, 0}));
      std::vector<Matched> results(sequence.scenes.size());
      std::vector<Ticket> tickets;
      for (int i = 0; i < 7; ++i) tickets.push_back(matcher.enqueue(sequence.pair(i), results[i]));
      for (const int i : {6, 2, 0, 1, 3, 5, 4, 4}) matcher.wait(tickets[i]);
      for (int i = 0; i < 7; ++i) {
        EXPECT_TRUE(matcher.is_done(tickets[i]));
        expect_same(results[i], sequence.expected[i]);
      }
    }
}

TEST(Frames, ResultsIntoMemoryOfTheCallers) {
  const Sequence sequence(1);
  for (const std::string& device : all_devices())
    for (const bool region : {false, true}) {
      SCOPED_TRACE(device + (region ? ", a region" : ""));
      Problem problem = sequence.problem(2);
      problem.want_right = problem.volumes.want_cost = true;
      if (region) problem.region = Rect{20, 11, 40, 33};
      Matcher matcher(Plan(Pipeline("sgm"), problem, {device, 0}));
      const Matched expected = matcher.match(sequence.pair(0));
      PitchedImage<float> disparity(size), right(size);
      PitchedImage<std::uint8_t> validity(size), cost(region ? problem.region->size() : size, range.count);
      MatchedViews views;
      views.disparity = disparity.view();
      views.right = right.view();
      views.cost = cost.view();
      std::vector<StageTime> times;
      views.times = &times;
      matcher.match(sequence.pair(0), views);
      EXPECT_EQ(times.empty(), device != "cpu");
      views.validity = validity.view();
      views.times = nullptr;
      matcher.wait(matcher.enqueue(sequence.pair(0), views));
      EXPECT_TRUE(same_bits(validity.view(), expected.validity.view()));
      EXPECT_TRUE(same_bits(disparity.view(), expected.disparity.view()));
      EXPECT_TRUE(same_bits(right.view(), expected.right.view()));
      EXPECT_TRUE(same_bits(cost.view(), std::get<Image<std::uint8_t>>(expected.cost.pixels).view()));
      EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact() && right.guard_intact() && cost.guard_intact());
      const auto refused = [&](auto&& change) {
        MatchedViews changed = views;
        change(changed);
        return message_of([&] { matcher.match(sequence.pair(0), changed); });
      };
      EXPECT_NE(refused([](MatchedViews& v) { v.right = {}; }).find("'right'"), std::string::npos);
      EXPECT_NE(refused([](MatchedViews& v) { --v.disparity.width; }).find("93×61"), std::string::npos);
      EXPECT_NE(refused([](MatchedViews& v) { v.disparity.pitch = 92; }).find("at least 93"), std::string::npos);
      EXPECT_NE(refused([](MatchedViews& v) { v.depth = v.right; }).find("not planned"), std::string::npos);
      EXPECT_NE(refused([](MatchedViews& v) { v.cost.type = PixelType::f32; }).find("8-bit"), std::string::npos);
    }
}

TEST(Frames, ManyPairsInOneCall) {
  const Sequence sequence(5);
  std::vector<StereoPair> pairs;
  for (int i = 0; i < 5; ++i) pairs.push_back(sequence.pair(i));
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(2), {device, 0}));
    std::vector<Matched> results(5);
    matcher.match(pairs, results);
    for (int i = 0; i < 5; ++i) expect_same(results[i], sequence.expected[i]);
    EXPECT_THROW(matcher.match(pairs, std::span(results).first(4)), Error);
  }
}

// From the third time on, a device that can replay work replays the work on the same images.
TEST(Frames, AreTheSameAgainAndAgain) {
  const Sequence sequence(2);
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(1), {device, 0}));
    Matched result = matcher.make_result();
    const float* place = result.disparity.row(0);
    for (int run = 0; run < 8; ++run) {
      matcher.match(sequence.pair(run % 2), result);
      expect_same(result, sequence.expected[run % 2]);
      EXPECT_EQ(result.disparity.row(0), place);
    }
  }
}

TEST(Frames, ARegionInFlightIsAsOneAlone) {
  const Sequence sequence(3);
  Problem problem = sequence.problem(2);
  problem.region = Rect{30, 20, 20, 15};
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    Matcher matcher(Plan(Pipeline("sgm"), problem, {device, 0})), alone(Plan(Pipeline("sgm"), problem, {"cpu", 0}));
    std::vector<Matched> results(3);
    std::vector<Ticket> tickets;
    for (int i = 0; i < 3; ++i) tickets.push_back(matcher.enqueue(sequence.pair(i), results[i]));
    matcher.wait(tickets[1]);
    matcher.wait(tickets[2]);
    for (int i = 0; i < 3; ++i) expect_same(results[i], alone.match(sequence.pair(i)));
  }
}

TEST(Frames, WhatIsInWorkEndsWithTheMatcher) {
  const Sequence sequence(1);
  for (const std::string& device : all_devices()) {
    Matched result;
    Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(2), {device, 0}));
    matcher.enqueue(sequence.pair(0), result);
    matcher.enqueue(sequence.pair(0), result);
  }
}

TEST(Frames, ARefusedPairLeavesTheOthersAlone) {
  const Sequence sequence(2);
  const Image<std::uint8_t> small({10, 10}, 3, 0);
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(2), {device, 0}));
    std::vector<Matched> results(3);
    const Ticket first = matcher.enqueue(sequence.pair(0), results[0]);
    EXPECT_THROW(matcher.enqueue({small, small, {}, {}}, results[2]), Error);
    const Ticket second = matcher.enqueue(sequence.pair(1), results[1]);
    matcher.wait(first);
    matcher.wait(second);
    expect_same(results[0], sequence.expected[0]);
    expect_same(results[1], sequence.expected[1]);
  }
}

// Images of a pair on a device, and device images for the results.
struct OnDevicePair {
  OnDevicePair(const std::string& device, const StereoPair& pair)
      : left(device, pair.left),
        right(device, pair.right),
        disparity(device, pair.left.size(), PixelType::f32),
        validity(device, pair.left.size()) {}
  DevicePair pair() const { return {left, right, {}, {}}; }
  DeviceMatched out() const { return {disparity, validity, {}, {}}; }
  void expect(const Matched& expected) const {
    Matched got;
    got.disparity = Image<float>(disparity.view().size());
    got.validity = Image<std::uint8_t>(validity.view().size());
    disparity.download(got.disparity);
    validity.download(got.validity);
    expect_same(got, expected);
  }

  DeviceImage left, right, disparity, validity;
};

TEST(DeviceImages, AreMatchedWhereTheyAre) {
  const Sequence sequence(2);
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const OnDevicePair first(device.name(), sequence.pair(0)), second(device.name(), sequence.pair(1));
    Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(2), {device.name(), 0}));
    for (int run = 0; run < 6; ++run) {
      const Ticket a = matcher.enqueue(first.pair(), first.out()), b = matcher.enqueue(second.pair(), second.out());
      matcher.wait(a);
      matcher.wait(b);
      first.expect(sequence.expected[0]);
      second.expect(sequence.expected[1]);
    }
    Matched result;  // a pair in host memory between pairs on the device
    matcher.match(sequence.pair(1), result);
    expect_same(result, sequence.expected[1]);
  });
}

// There are more pairs in flight than the batch has places. Each pair waits on the device for the previous pair.
TEST(DeviceImages, InAStreamAreInWorkInAnyNumber) {
  const Sequence sequence(2);
  bool any = false;
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    if (!device.name().starts_with("cuda")) return;
    any = true;
    constexpr std::uint64_t default_stream = 0;
    std::vector<OnDevicePair> pairs;
    for (int i = 0; i < 12; ++i) pairs.emplace_back(device.name(), sequence.pair(i % 2));
    Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(1), {device.name(), 0}));
    std::vector<Ticket> tickets;
    for (const OnDevicePair& p : pairs) tickets.push_back(matcher.enqueue(p.pair(), p.out(), default_stream));
    StreamMark mark(device.name());
    mark.take(default_stream);
    mark.wait();
    EXPECT_TRUE(mark.is_passed());
    for (const Ticket ticket : tickets) EXPECT_TRUE(matcher.is_done(ticket));
    matcher.wait(tickets.front());
    for (int i = 0; i < 12; ++i) pairs[i].expect(sequence.expected[i % 2]);
  });
  if (!any && !testing::Test::IsSkipped()) GTEST_SKIP() << "no CUDA device: " << gpu::cuda_devices().reason;
}

TEST(DeviceImages, CropsAreMatched) {
  const Scene scene = make_scene({.size = {120, 80}, .disparities = range.count, .seed = 5});
  const Rect part{11, 7, 93, 61};
  const StereoPair whole{scene.left, scene.right, {}, {}};
  const StereoPair pair{whole.left.crop(part), whole.right.crop(part), {}, {}};
  const Matched expected = match(pair, range, Pipeline("sgm"), {"cpu", 0});
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const OnDevicePair there(device.name(), whole);
    Matcher matcher(Plan(Pipeline("sgm"), Problem::of(pair, range), {device.name(), 0}));
    for (int run = 0; run < 3; ++run)
      matcher.wait(matcher.enqueue({there.left.view().crop(part), there.right.view().crop(part), {}, {}},
                                   {there.disparity.view().crop(part), there.validity.view().crop(part), {}, {}}));
    Image<float> disparity(whole.left.size());
    there.disparity.download(disparity);
    EXPECT_TRUE(same_bits<const float>(disparity.view().crop(part), expected.disparity));
  });
}

TEST(DeviceImages, ThatDoNotFitAreRefused) {
  const Sequence sequence(1);
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const OnDevicePair there(device.name(), sequence.pair(0));
    Matcher matcher(Plan(Pipeline("sgm"), sequence.problem(1), {device.name(), 0}));
    DeviceMatched out = there.out();
    out.disparity.width = 50;
    EXPECT_NE(message_of([&] { matcher.enqueue(there.pair(), out); }).find("50×61"), std::string::npos);
    EXPECT_NE(message_of([&] {
                matcher.enqueue({there.left, {}, {}, {}}, there.out());
              }).find("right image"),
              std::string::npos);
    EXPECT_THROW(DeviceImage(device.name(), Size{0, 3}), Error);
    Image<float> other(Size{3, 3});
    EXPECT_THROW(there.disparity.download(other), Error);
  });
  Matcher on_cpu(Plan(Pipeline("sgm"), sequence.problem(1), {"cpu", 0}));
  DevicePair pair;
  pair.left = pair.right = {1, 0, PixelType::u8, size.width, size.height, 3, 3 * size.width, 8};
  DeviceMatched out{{1, 0, PixelType::f32, size.width, size.height, 1, size.width, 8},
                    {1, 0, PixelType::u8, size.width, size.height, 1, size.width, 8},
                    {},
                    {}};
  EXPECT_NE(message_of([&] { on_cpu.enqueue(pair, out); }).find("on the cpu"), std::string::npos);
}

// With a limit below the memory for the whole image, the result is the same.
TEST(MemoryLimit, IsKeptWithTheSameResult) {
  const Scene scene = make_scene({.size = {120, 200}, .disparities = 40, .noise = 2});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  for (const std::string& device : all_devices())
    for (const char* method : {"sgm", "banz-sgm"}) {
      SCOPED_TRACE(device + ", " + method);
      Problem problem = Problem::of(pair, {0, 40});
      const Plan whole(Pipeline(method), problem, {device, 1});
      EXPECT_EQ(whole.stripe_rows(), 0);
      problem.memory_limit = whole.workspace_bytes() * 7 / 10;
      const Plan limited(Pipeline(method), problem, {device, 1});
      EXPECT_GT(limited.stripe_rows(), 0);
      EXPECT_LE(limited.workspace_bytes(), problem.memory_limit);
      expect_same(Matcher(limited).match(pair), Matcher(whole).match(pair));
    }
}

TEST(MemoryLimit, IsRefusedBelowTheLeastThatTheRefusalNames) {
  for (const std::string& device : all_devices()) {
    SCOPED_TRACE(device);
    const auto refusal_of = [&](std::size_t limit) {
      const Problem problem{.size = {120, 400}, .range = {0, 40}, .region = {}, .memory_limit = limit};
      return message_of([&] { Plan(Pipeline("sgm"), problem, {device, 1}); });
    };
    const std::string refusal = refusal_of(1000), before = " MiB (";
    ASSERT_NE(refusal.find(before), std::string::npos) << refusal;
    const std::size_t least = std::stoul(refusal.substr(refusal.find(before) + before.size()));
    EXPECT_EQ(refusal_of(least), "no error");
    EXPECT_NE(refusal_of(least - 1), "no error");
  }
}

// The pairs of a batch share memory before the planner uses stripes.
TEST(MemoryLimit, LetsABatchShareMemory) {
  const Sequence sequence(4);
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    Problem problem = sequence.problem(4);
    const Plan all(Pipeline("sgm"), problem, {device.name(), 0});
    problem.memory_limit = (all.workspace_bytes() - all.staging_bytes()) / 2 + all.staging_bytes();
    Matcher matcher(Plan(Pipeline("sgm"), problem, {device.name(), 0}));
    EXPECT_LE(matcher.plan().workspace_bytes(), problem.memory_limit);  // the constants of stages exist only once
    EXPECT_EQ(matcher.plan().stripe_rows(), 0);
    std::vector<Matched> results(4);
    std::vector<Ticket> tickets;
    for (int i = 0; i < 4; ++i) tickets.push_back(matcher.enqueue(sequence.pair(i), results[i]));
    for (int i = 0; i < 4; ++i) {
      matcher.wait(tickets[i]);
      expect_same(results[i], sequence.expected[i]);
    }
  });
}

TEST(Conformance, EveryDeviceReturnsTheStoredBits) {
  for (const std::string& device : sanitized ? std::vector<std::string>{"cpu"} : all_devices()) {
    const std::vector<ConformanceCase> cases = check_conformance({device, 0});
    EXPECT_GT(cases.size(), 200u);
    for (const ConformanceCase& one : cases) EXPECT_EQ(one.problem, "") << one.name << " on " << device;
  }
}

// If a change of the results is deliberate, ./dev hashes stores the new hashes.
TEST(Conformance, TheOracleOfEveryCaseHasAStoredHash) {
  if (sanitized) GTEST_SKIP() << "takes minutes under a sanitizer, where the same cases run on the CPU";
  for (const ConformanceCase& one : check_conformance({"cpu", 1, Implementation::oracle}))
    EXPECT_EQ(one.hash, one.expected) << one.name;
}

TEST(Roofs, AreMeasuredAndBoundStages) {
  for (const std::string& device : all_devices()) {
#ifndef STEREOPSIS_SIMD
    if (device == "cpu") continue;  // the speed of the oracles does not matter
#endif
    const Roofs roofs = measure_roofs({device, 0});
    for (const double rate : {roofs.bytes, roofs.path_operations, roofs.popcounts, roofs.operations})
      EXPECT_GT(rate, 1e6) << device;
  }
  const Roofs roofs{.bytes = 1e9, .path_operations = 1e9, .popcounts = 1e9, .operations = 1e9};
  const StageTime copies{.name = "", .ms = 2, .bytes = 1e6, .path_operations = 5e5},
      adds{.name = "", .ms = 5, .bytes = 1e6, .path_operations = 3e6}, waits{.name = "", .ms = 50, .bytes = 1e6};
  EXPECT_EQ(bound_of(copies, roofs), Bound::memory);
  EXPECT_EQ(bound_of(adds, roofs), Bound::arithmetic);
  EXPECT_EQ(bound_of(waits, roofs), Bound::latency);
  EXPECT_DOUBLE_EQ(roof_of(adds, roofs).ms, 3);
  EXPECT_DOUBLE_EQ(roof_of(std::vector{copies, adds}, roofs).ms, 4);
  EXPECT_EQ(roof_of(std::vector{copies, adds}, roofs).bound, Bound::arithmetic);
}

TEST(Batch, OutOfRangeIsRefused) {
  const Sequence sequence(1);
  EXPECT_NE(message_of([&] { Plan(Pipeline("sgm"), sequence.problem(0)); }).find("batch of 0"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::frames_test
