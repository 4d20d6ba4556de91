// Tests of user-defined stages in every slot that supports them.
#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <stdexcept>

#include "device/gpu/device.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::user_stage_test {
namespace {

using namespace test;

constexpr DisparityRange range{-2, 21};

const Scene& scene() {
  static const Scene made = make_scene({.size = {67, 45}, .disparities = 16, .noise = 4});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }

const Device cpu{.name = "cpu"}, oracle{.name = "cpu", .implementation = Implementation::oracle};

Matched matched(const Pipeline& pipeline, Problem problem, const Device& device = cpu) {
  return Matcher(Plan(pipeline, problem, device)).match(pair());
}
Matched matched(const Pipeline& pipeline, const Device& device = cpu) {
  return matched(pipeline, Problem::of(pair(), range), device);
}

void expect_same(const Matched& a, const Matched& b) {
  EXPECT_TRUE(same_bits(a.disparity.view(), b.disparity.view()));
  EXPECT_TRUE(same_bits(a.validity.view(), b.validity.view()));
  EXPECT_TRUE(same_bits(a.right.view(), b.right.view()));
}

// Computes the cost `absolute_difference` by its definition.
void differ(const UserCall& c, ImageView<const std::uint8_t> reference, ImageView<const std::uint8_t> other,
            ImageView<std::uint8_t> made, int truncation) {
  for (int y = 0; y < made.height; ++y)
    for (int x = 0; x < made.width; ++x)
      for (int k = 0; k < c.range.count; ++k) {
        int sum = 0;
        for (int channel = 0; channel < reference.channels; ++channel)
          sum += std::abs(reference(x, y, channel) - other.clamped(x - c.range.min - k, y, channel));
        made(x, y, k) = static_cast<std::uint8_t>(std::min(sum, truncation));
      }
}

// Runs a host function on device memory, in the order of the stream.
class OnDevice {
 public:
  OnDevice(const std::string& device, std::uint64_t stream)
      : queue_(gpu::device(device).make_queue()), stream_(stream) {
    queue_->wait_for_native(stream);
  }
  Image<std::uint8_t> download(const DeviceImageView& v) {
    Image<std::uint8_t> image(v.size(), v.channels);
    queue_->download(view_of(v), image.view());
    queue_->wait();
    return image;
  }
  void upload(const Image<std::uint8_t>& image, const DeviceImageView& to) {
    queue_->upload(image.view(), view_of(to));
    queue_->wait();
  }
  // Calls f(disparity, validity) with both maps on the host.
  template <class F>
  void change(const DeviceImageView& disparity, const DeviceImageView& validity, F&& f) {
    const gpu::View<float> map{disparity.memory, disparity.offset,   disparity.width,
                               disparity.height, disparity.channels, disparity.pitch};
    Image<float> there(disparity.size(), 1);
    Image<std::uint8_t> bits = download(validity);
    queue_->download<float>(map, there.view());
    queue_->wait();
    f(there.view(), bits.view());
    queue_->upload<float>(there.view(), map);
    upload(bits, validity);
  }
  void fill(const DeviceImageView& v, std::uint8_t value) {
    queue_->fill({v.memory, v.offset}, v.pitch * (v.height - 1) + v.width, value);
  }
  ~OnDevice() {
    queue_->let_native_wait(stream_);
    queue_->wait();
  }

 private:
  static gpu::View<std::uint8_t> view_of(const DeviceImageView& v) {
    return {v.memory, v.offset, v.width, v.height, v.channels, v.pitch};
  }
  std::unique_ptr<gpu::Queue> queue_;
  std::uint64_t stream_;
};

constexpr int truncation = 40;
UserStage differences(const std::string& device = "cpu") {
  return {.name = "differences",
          .cpu =
              [](const UserCall& c) {
                differ(c, on_host<const std::uint8_t>(c.reference), on_host<const std::uint8_t>(c.other),
                       on_host<std::uint8_t>(c.made), truncation);
              },
          .gpu =
              [=](const UserCall& c) {
                OnDevice there(device, *c.stream);
                const Image<std::uint8_t> reference = there.download(c.reference), other = there.download(c.other);
                Image<std::uint8_t> made(c.made.size(), c.made.channels);
                differ(c, reference, other, made.view(), truncation);
                there.upload(made, c.made);
              },
          .largest = truncation};
}

std::vector<Device> all_devices() {
  std::vector<Device> list{cpu, oracle};
  for (gpu::Device* device : gpu::usable_devices()) list.push_back({.name = device->name()});
  return list;
}

TEST(UserStage, ACostIsAsOneThatIsThere) {
  Problem problem = Problem::of(pair(), range);
  problem.want_right = true;
  for (const char* method : {"sgm", "asw", "census-guided"})
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      Pipeline here(method);
      here.set("levels.stage", "none");
      Pipeline own = here;
      here.set("cost.stage", "absolute_difference");
      here.set("aggregation.stage", here.get("aggregation.stage") == "guided" ? "box" : here.get("aggregation.stage"));
      own.set("aggregation.stage", here.get("aggregation.stage"));
      own.set_stage("cost", differences(device.name));
      const Matched expected = matched(here, problem, device);
      Matcher matcher(Plan(own, problem, device));
      for (int frame = 0; frame < 3; ++frame) expect_same(matcher.match(pair()), expected);
    }
}

template <class T>
UserStage copies() {
  return {.name = "copies",
          .cpu =
              [](const UserCall& c) {
                const auto made = on_host<T>(c.made);
                for (int y = 0; y < made.height; ++y)
                  std::copy_n(on_host<const T>(c.costs).row(y), made.width * made.channels, made.row(y));
              },
          .makes = pixel_type_of<T>,
          .takes = pixel_type_of<T>};
}

TEST(UserStage, FiltersOfVolumesStandInTheirSlots) {
  Pipeline plain("sgm");
  Pipeline between = plain;
  between.set_stage("aggregation", copies<std::uint8_t>());
  for (const Device& device : {cpu, oracle}) expect_same(matched(between, device), matched(plain, device));

  // A filter of this library passes real-valued costs to a user-defined filter, and to the selection unchanged.
  plain.set("aggregation.stage", "guided");
  plain.set("optimisation.stage", "none");
  Pipeline behind = plain;
  behind.set_stage("optimisation", copies<float>());
  expect_same(matched(behind), matched(plain));
}

TEST(UserStage, APipelineListsTheSlotsThatItsVolumesNeed) {
  for (const PixelType makes : {PixelType::u8, PixelType::u16, PixelType::f32}) {
    Pipeline pipeline("sgm");
    pipeline.set_stage("aggregation", {.name = "none", .cpu = [](const UserCall&) {}, .makes = makes});
    const std::vector<PipelineSlot> slots = pipeline.slots();
    const auto quantise = std::ranges::find(slots, "quantise", &PipelineSlot::slot);
    EXPECT_EQ(quantise != slots.end(), makes != PixelType::u8);
    if (quantise == slots.end()) continue;
    for (const ParameterInfo& info : quantise->parameters) EXPECT_EQ(info.value, info.default_value) << info.name;
  }
}

TEST(UserStage, OnAGpuItWorksInTheStream) {
  for (gpu::Device* device : gpu::usable_devices()) {
    SCOPED_TRACE(device->name());
    Pipeline pipeline("sgm");
    pipeline.set("refinements", "none");
    const Matched plain = matched(pipeline, {.name = device->name()});
    pipeline.set_stage("refinement", {.name = "masks all", .gpu = [&](const UserCall& c) {
                                        OnDevice(device->name(), *c.stream).fill(c.validity, validity::masked);
                                      }});
    const Matched result = matched(pipeline, {.name = device->name()});
    EXPECT_FALSE(std::isnan(plain.disparity(40, 20)));
    for (int x = 0; x < 67; ++x) {
      EXPECT_EQ(result.validity(x, 20), validity::masked);
      EXPECT_TRUE(std::isnan(result.disparity(x, 20)));
    }
  }
}

TEST(UserStage, RefinementsHaveAnOrder) {
  const UserStage halves{.name = "halves", .cpu = [](const UserCall& c) {
                           const auto disparity = on_host<float>(c.disparity);
                           const auto validity = on_host<std::uint8_t>(c.validity);
                           for (int y = 0; y < disparity.height; ++y)
                             for (int x = 0; x < disparity.width / 2; ++x) {
                               disparity(x, y) = invalid_disparity;
                               validity(x, y) = validity::left_right;
                             }
                         }};
  Pipeline pipeline("sgm");
  pipeline.set("refinements", "none");
  pipeline.set_stage("refinement", halves);
  EXPECT_TRUE(std::isnan(matched(pipeline).disparity(10, 20)));
  pipeline.set("refinements", "user_refinement,fill");
  EXPECT_FALSE(std::isnan(matched(pipeline).disparity(10, 20)));
  pipeline.set("refinements", "fill,user_refinement");
  EXPECT_TRUE(std::isnan(matched(pipeline).disparity(10, 20)));
}

// A refinement may forget the reason of a pixel that it removes, or the disparity of a pixel for which it sets a reason.
TEST(UserStage, DisparityAndValidityBecomeConsistent) {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const auto edit = [](const auto& disparity, const auto& validity) {
    disparity(40, 20) = invalid_disparity;
    disparity(41, 20) = infinite;
    disparity(42, 20) = -infinite;
    disparity(43, 20) = invalid_disparity;
    validity(40, 20) = validity(41, 20) = validity(42, 20) = 0;
    validity(43, 20) = validity::speckle;
    disparity(44, 20) = 7;
    validity(44, 20) = validity::left_right;
    disparity(45, 20) = invalid_disparity;
    validity(45, 20) = validity::repaired;
    disparity(46, 20) = 9;
    validity(46, 20) = validity::filled;
  };
  const auto forgets = [&](const std::string& device) {
    return UserStage{
        .name = "forgets",
        .cpu = [=](const UserCall& c) { edit(on_host<float>(c.disparity), on_host<std::uint8_t>(c.validity)); },
        .gpu =
            [=](const UserCall& c) {
              OnDevice there(device, *c.stream);
              there.change(c.disparity, c.validity, edit);
            }};
  };
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    Pipeline pipeline("sgm");
    pipeline.set("refinements", "none");
    pipeline.set_stage("refinement", forgets(device.name));
    const Matched result = matched(pipeline, device);
    const int expected[] = {validity::ambiguous, validity::ambiguous,  validity::ambiguous,
                            validity::speckle,   validity::left_right, validity::repaired | validity::ambiguous,
                            validity::filled};
    for (int k = 0; k < 7; ++k) {
      EXPECT_EQ(result.validity(40 + k, 20), expected[k]) << k;
      EXPECT_EQ(std::isnan(result.disparity(40 + k, 20)), k < 6) << k;
    }
    EXPECT_EQ(result.disparity(46, 20), 9);
    for (int y = 0; y < 45; ++y)
      for (int x = 0; x < 67; ++x)
        ASSERT_EQ(std::isnan(result.disparity(x, y)), (result.validity(x, y) & validity::reasons) != 0)
            << x << "," << y;
  }
}

TEST(UserStage, ARegionIsThatOfTheWholeImage) {
  constexpr int reach = 90;  // larger than the margin
  const auto looks_far = [](bool says_so) {
    UserStage stage{.name = "looks far", .cpu = [](const UserCall& c) {
                      const auto disparity = on_host<float>(c.disparity);
                      const Image<float> before{ImageView<const float>(disparity)};
                      for (int y = 0; y < disparity.height; ++y)
                        for (int x = reach; x < disparity.width; ++x) disparity(x, y) += before(x - reach, y);
                    }};
    if (says_so) stage.required_input = [](const Rect& r) { return Rect{r.x - reach, r.y, r.width + reach, r.height}; };
    return stage;
  };
  const Scene wide = make_scene({.size = {220, 45}, .disparities = 16, .noise = 4});
  const StereoPair pair{wide.left, wide.right, {}, {}};
  const auto differing = [&](bool says_so) {
    Pipeline pipeline("esaw");
    pipeline.set("refinements", "none");
    pipeline.set_stage("refinement", looks_far(says_so));
    Problem problem = Problem::of(pair, {0, 4});
    const Matched whole = Matcher(Plan(pipeline, problem, cpu)).match(pair);
    problem.region = Rect{175, 10, 35, 20};
    const Matched part = Matcher(Plan(pipeline, problem, cpu)).match(pair);
    int count = 0;
    for (int y = 10; y < 30; ++y)
      for (int x = 175; x < 210; ++x) count += part.disparity(x, y) != whole.disparity(x, y);
    return count;
  };
  EXPECT_EQ(differing(true), 0);
  EXPECT_GT(differing(false), 0) << "nothing is seen of what is needed";
}

TEST(UserStage, WhatItThrowsIsNestedInTheError) {
  struct Own : std::runtime_error {
    using std::runtime_error::runtime_error;
    int number = 42;
  };
  Pipeline pipeline("sgm");
  pipeline.set_stage("refinement", {.name = "throws", .cpu = [](const UserCall&) { throw Own("on purpose"); }});
  Problem problem = Problem::of(pair(), range);
  problem.batch = 2;
  Matcher matcher(Plan(pipeline, problem, cpu));
  Matched result;
  const std::function<void()> ways[] = {[&] { matcher.match(pair(), result); },
                                        [&] { matcher.wait(matcher.enqueue(pair(), result)); }};
  for (const auto& match : ways) try {
      match();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "the stage 'throws' failed: on purpose");
      try {
        std::rethrow_if_nested(error);
        ADD_FAILURE() << "nothing is nested";
      } catch (const Own& own) {
        EXPECT_EQ(own.number, 42);
      }
    }
}

TEST(UserStage, HasANameInStepsAndTimes) {
  Pipeline pipeline("sgm");
  pipeline.set_stage("cost", differences());
  const Plan plan(pipeline, Problem::of(pair(), range), cpu);
  const auto steps = plan.steps();
  EXPECT_TRUE(std::ranges::any_of(
      steps, [](const PlanStep& s) { return s.stage == "user_cost" && s.work.name == "differences" && !s.fused; }));
  const Matched result = matched(pipeline);
  EXPECT_TRUE(std::ranges::any_of(result.times, [](const StageTime& t) { return t.name == "differences"; }));
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
UserStage cost_of(std::function<void(const UserCall&)> cpu_function, PixelType makes = PixelType::u8) {
  return {.name = "mine", .cpu = std::move(cpu_function), .makes = makes};
}

TEST(UserStage, WhatItThrowsIsASentenceAndTheMatcherGoesOn) {
  bool fails = true;
  Pipeline pipeline("sgm");
  pipeline.set_stage("cost", cost_of([&](const UserCall& c) {
                       if (fails) throw std::runtime_error("no weights were loaded");
                       differences().cpu(c);
                     }));
  Matcher matcher(Plan(pipeline, Problem::of(pair(), range), cpu));
  EXPECT_EQ(error_of([&] { matcher.match(pair()); }), "the stage 'mine' failed: no weights were loaded");
  Matched result;
  const Ticket ticket = matcher.enqueue(pair(), result);
  EXPECT_NE(error_of([&] { matcher.wait(ticket); }), "");
  fails = false;
  pipeline.set_stage("cost", differences());
  expect_same(matcher.match(pair()), matched(pipeline));
}

TEST(UserStage, WhatItForgetsIsSaidOrNoCandidate) {
  Pipeline pipeline("sgm");
  pipeline.set_stage("cost", cost_of([](const UserCall&) {}));
  EXPECT_NE(error_of([&] { matched(pipeline); }).find("wrote no costs"), std::string::npos);

  pipeline.set("optimisation.stage", "none");
  pipeline.set("refinements", "none");
  pipeline.set_stage("cost", cost_of(
                                 [](const UserCall& c) {
                                   const auto made = on_host<float>(c.made);
                                   for (int y = 0; y < 20; ++y)
                                     std::fill_n(made.row(y), made.width * made.channels, 1.0f);
                                 },
                                 PixelType::f32));
  const Matched result = matched(pipeline);
  EXPECT_EQ(result.validity(40, 19), 0);
  EXPECT_EQ(result.validity(40, 20), validity::no_candidate);
}

TEST(UserStage, MisuseIsASentence) {
  Pipeline pipeline("sgm");
  EXPECT_EQ(
      error_of([&] { pipeline.set_stage("select", differences()); }),
      "a user-defined stage cannot be in the slot 'select'; the slot must be cost, plus, aggregation, optimisation or "
      "refinement");
  EXPECT_NE(error_of([&] { pipeline.set_stage("cost", {.name = "mine"}); }).find("a function"), std::string::npos);
  EXPECT_NE(error_of([&] { pipeline.set_stage("cost", {.cpu = [](const UserCall&) {}}); }).find("a name"),
            std::string::npos);

  UserStage stage = differences();
  stage.largest = 256;
  EXPECT_NE(error_of([&] { pipeline.set_stage("cost", stage); }).find("must be 0 to 255"), std::string::npos);
  EXPECT_NE(error_of([&] { pipeline.set_stage("refinement", differences()); }).find("does not compute costs"),
            std::string::npos);
  stage = differences();
  stage.takes = PixelType::u8;
  EXPECT_NE(error_of([&] { pipeline.set_stage("cost", stage); }).find("does not filter a volume"), std::string::npos);

  pipeline.set_stage("cost", {.name = "mine", .gpu = [](const UserCall&) {}});
  EXPECT_EQ(error_of([&] { Plan(pipeline, Problem::of(pair(), range), cpu); }),
            "the stage 'mine' has no function for the cpu; set such a function, or plan for a GPU");

  pipeline.set_stage("cost", cost_of([](const UserCall& c) { on_host<float>(c.made); }));
  EXPECT_NE(error_of([&] { matched(pipeline); }).find("cannot be read as"), std::string::npos);

  UserStage elsewhere = differences();
  elsewhere.required_input = [](const Rect& r) { return Rect{r.x + 1, r.y, r.width, r.height}; };
  pipeline.set_stage("cost", elsewhere);
  Problem problem = Problem::of(pair(), range);
  problem.region = Rect{20, 10, 15, 20};
  EXPECT_NE(error_of([&] { Plan(pipeline, problem, cpu); }).find("it must contain the output"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::user_stage_test
