// Tests the engines with programs of their own: frames in flight, errors, times, masks and staging.
#include <gtest/gtest.h>

#include <cstring>

#include "execution/engine.hpp"
#include "execution/pinned_staging.hpp"
#include "methods/methods.hpp"
#include "support/devices.hpp"

namespace stereopsis::execution_test {
namespace {

using namespace test;

constexpr Size size{64, 24};
constexpr int pairs = 3;

// A refinement that the tests observe. It fails if a disparity in the middle of the map is above `limit`.
const Engine* engine_of_stage = nullptr;
bool ran_here = false;
float limit = 1e9f;
void observe(const Call<On::cpu>& call) {
  ran_here = engine_of_stage != nullptr && engine_of_stage->runs_here();
  if (call.image<const float>("disparity")(40, 12) > limit) throw Error(ErrorCategory::call, "the map is too near");
}
const StageDescriptor observer{.slot = Slot::refinement,
                               .name = "observer",
                               .title = "observer",
                               .ports = {change("disparity")},
                               .functions = {.cpu = observe}};

struct Pair {
  Image<std::uint8_t> left{size}, right{size};
  Image<float> disparity{size};
  Image<std::uint8_t> validity{size};

  explicit Pair(int shift) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto grey = [&](int at) { return static_cast<std::uint8_t>((at * 37 + y * 11 + at * at * 5) % 251); };
        left(x, y) = grey(x);
        right(x, y) = grey(x + shift);
      }
  }
  FrameArguments images() {
    FrameArguments arguments;
    FrameImages& all = arguments.images;
    all[index_of(Binding::left)] = AnyView::of(left.view());
    all[index_of(Binding::right)] = AnyView::of(right.view());
    all[index_of(Binding::output_disparity)] = AnyView::of(disparity.view());
    all[index_of(Binding::output_validity)] = AnyView::of(validity.view());
    return arguments;
  }
};

Request request() {
  Request r;
  r.size = size;
  r.range = {0, 16};
  for (const Binding output : {Binding::output_disparity, Binding::output_validity})
    r.requested[index_of(output)] = true;
  return r;
}

PipelineData pipeline(bool with_observer) {
  PipelineData p = method_data("banz-sgm");
  p.refinements.clear();
  if (with_observer) p.refinements.push_back(StageChoice(observer));
  return p;
}

std::shared_ptr<const Programs> programs(const Target& target, bool with_observer) {
  return std::make_shared<const Programs>(pipeline(with_observer), request(), target, true, 0, 1 << 30);
}

std::unique_ptr<Engine> host_engine(bool with_observer, int batch = pairs) {
  auto planned = programs(Target(On::cpu, 2), with_observer);
  const std::size_t bytes = planned->bytes();
  return make_host_engine(std::move(planned), {.batch = batch, .bytes_of_lane = bytes}, 2);
}

bool same_map(const Pair& a, const Pair& b) {
  return std::memcmp(a.disparity.row(0), b.disparity.row(0), sizeof(float) * size.width * size.height) == 0;
}

std::vector<Pair> matched_in_turn() {
  std::vector<Pair> list;
  std::vector<StageTime> times;
  for (int i = 0; i < pairs; ++i) list.emplace_back(2 + 3 * i);
  const auto engine = host_engine(false);
  for (Pair& pair : list) engine->match(pair.images(), times);
  return list;
}

TEST(HostEngine, FramesInFlightGiveTheResultsOfSinglePairs) {
  const std::vector<Pair> expected = matched_in_turn();
  EXPECT_FALSE(same_map(expected[0], expected[1]));
  std::vector<Pair> list;
  for (int i = 0; i < pairs; ++i) list.emplace_back(2 + 3 * i);
  const auto engine = host_engine(false);
  std::vector<StageTime> times;
  for (int round = 0; round < 2; ++round) {  // a frame can begin again after it has ended
    for (int i = 0; i < pairs; ++i) engine->begin(i, list[static_cast<std::size_t>(i)].images());
    for (int i = pairs - 1; i >= 0; --i) {
      engine->end(i, times);
      EXPECT_TRUE(engine->is_done(i));
    }
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_TRUE(same_map(list[i], expected[i])) << i;
  }
}

TEST(HostEngine, AnErrorBelongsToItsFrameAlone) {
  std::vector<Pair> list;
  for (const int shift : {2, 12, 4}) list.emplace_back(shift);
  const auto engine = host_engine(true);
  std::vector<StageTime> times;
  engine->match(list[0].images(), times);
  limit = list[0].disparity(40, 12) + 5;
  for (int i = 0; i < pairs; ++i) engine->begin(i, list[static_cast<std::size_t>(i)].images());
  EXPECT_NO_THROW(engine->end(0, times));
  EXPECT_THROW(engine->end(1, times), Error);
  EXPECT_NO_THROW(engine->end(2, times));
  limit = 1e9f;
  engine->begin(1, list[1].images());
  EXPECT_NO_THROW(engine->end(1, times));
}

TEST(HostEngine, KnowsInsideAStageThatItRunsHere) {
  Pair pair(2);
  const auto engine = host_engine(true), other = host_engine(false);
  std::vector<StageTime> times;
  engine_of_stage = engine.get();
  engine->match(pair.images(), times);
  EXPECT_TRUE(ran_here);
  engine_of_stage = other.get();
  engine->match(pair.images(), times);
  EXPECT_FALSE(ran_here) << "another engine";
  engine_of_stage = nullptr;
  EXPECT_FALSE(engine->runs_here());
}

TEST(HostEngine, TimesHaveTheTitlesOfTheStepsAndTheirWork) {
  Pair pair(2);
  const auto planned = programs(Target(On::cpu, 2), true);
  const auto engine = make_host_engine(planned, {.bytes_of_lane = planned->bytes()}, 2);
  std::vector<StageTime> times;
  engine->match(pair.images(), times);
  std::vector<std::string> names;
  for (const StageTime& time : times) names.push_back(time.name);
  EXPECT_EQ(names, planned->without_masks().times());
  EXPECT_EQ(names.back(), "observer");
  EXPECT_EQ(times.back().bytes, 4.0 * size.width * size.height) << "each operand once";
}

TEST(ProgramsOfAPlan, AFrameWithAMaskTakesTheProgramWithMasks) {
  Pair pair(2);
  const auto planned = programs(Target(On::cpu, 2), false);
  EXPECT_EQ(&planned->of({false, false}, pair.images(), false), &planned->without_masks());
  EXPECT_EQ(&planned->of({false, true}, pair.images(), false), &planned->with_masks());
  EXPECT_EQ(planned->bytes(), std::max(planned->with_masks().bytes(), planned->without_masks().bytes()));
}

TEST(GpuEngine, FramesOnLanesGiveTheResultsOfTheHost) {
  const std::vector<Pair> expected = matched_in_turn();
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    const auto planned = programs(Target(device.properties()), false);
    std::vector<Pair> list;
    for (int i = 0; i < pairs; ++i) list.emplace_back(2 + 3 * i);
    const EngineOptions options{.batch = pairs, .lanes = 2, .bytes_of_lane = planned->bytes()};
    const auto engine = make_gpu_engine(planned, options, device.name());
    std::vector<StageTime> times;
    for (int i = 0; i < pairs; ++i) engine->begin(i, list[static_cast<std::size_t>(i)].images());
    for (int i = 0; i < pairs; ++i) engine->end(i, times);
    EXPECT_TRUE(times.empty()) << "times were not requested";
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_TRUE(same_map(list[i], expected[i])) << i;
  });
}

TEST(GpuEngine, TimesHaveTransfersAroundTheSteps) {
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    Pair pair(2);
    const auto planned = programs(Target(device.properties()), false);
    const auto engine = make_gpu_engine(planned, {.times = true, .bytes_of_lane = planned->bytes()}, device.name());
    std::vector<StageTime> times;
    engine->match(pair.images(), times);
    ASSERT_EQ(times.size(), planned->without_masks().times().size() + 2);
    EXPECT_EQ(times.front().name, "upload");
    EXPECT_EQ(times.front().bytes, 2.0 * size.width * size.height);
    EXPECT_EQ(times.back().name, "download");
    EXPECT_EQ(times.back().bytes, 5.0 * size.width * size.height);
  });
}

TEST(PinnedStaging, CopiesPageableImagesAndKeepsTheirBuffers) {
  for_each_gpu([&](gpu::Queue&, gpu::Device& device) {
    Pair pair(2);
    PinnedStaging staging;
    const AnyView image = AnyView::of(pair.left.view()), staged = staging.copied(device, 0, image);
    EXPECT_EQ(PinnedStaging::bytes_for(image), 64u * size.height) << "rows begin at cache lines";
    if (staged.memory == image.memory) return;  // a device that reads all host memory
    for (int y = 0; y < size.height; ++y)
      EXPECT_EQ(std::memcmp(staged.on_host<std::uint8_t>().row(y), pair.left.row(y), size.width), 0);
    EXPECT_EQ(staging.copied(device, 0, image).memory, staged.memory) << "the buffer of a slot is used again";
    EXPECT_NE(staging.copied(device, 1, image).memory, staged.memory);
    EXPECT_EQ(staging.instead(device, 2, AnyView()).memory, 0u) << "an absent image";
    PinnedStaging::deliver(staged, AnyView::of(pair.right.view()));
    EXPECT_EQ(std::memcmp(pair.right.row(5), pair.left.row(5), size.width), 0);
  });
}

}  // namespace
}  // namespace stereopsis::execution_test
