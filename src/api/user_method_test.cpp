// Tests of user-defined methods: what surrounds them is that of other methods, and their values are checked.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "device/gpu/device.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::user_method_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 20};
constexpr Size size{67, 45};
const Device cpu{.name = "cpu"}, oracle{.name = "cpu", .implementation = Implementation::oracle};

const Scene& scene() {
  static const Scene made = make_scene({.size = size, .disparities = 16, .noise = 4});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }
Problem problem() { return Problem::of(pair(), range); }

Matched matched(const Pipeline& pipeline, const Problem& of, const StereoPair& given = pair(),
                const Device& device = cpu) {
  return Matcher(Plan(pipeline, of, device)).match(given);
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// Returns a map that is right at most pixels, and wrong, outside of the range or missing at others.
float value_at(int x, int y, bool from_right) {
  if ((x + 3 * y) % 17 == 0) return std::numeric_limits<float>::quiet_NaN();
  const float d = 0.25f * static_cast<float>((x / 8 + y / 5) % 80);
  return (x + y) % 23 == 0 ? 1000.0f : from_right ? d + 1 : d;
}

void write_map(const UserCall& c, ImageView<float> disparity, ImageView<float> confidence) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      disparity(x, y) = value_at(x, y, c.from_right);
      if (!confidence.empty()) confidence(x, y) = 0.5f;
    }
}

UserMethod stripes() {
  return {.name = "stripes",
          .cpu = [](const UserCall& c) { write_map(c, on_host<float>(c.disparity), on_host<float>(c.confidence)); },
          .rates = true};
}

// Returns the maps that the library makes of the method's values, from the left and from the right view.
GivenMaps maps_of(Image<float>& disparity, Image<std::uint8_t>& validity, Image<float>& right) {
  const auto is_candidate = [](float d) { return d >= -0.5f && d <= 19.5f; };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float d = value_at(x, y, false), r = value_at(x, y, true), u = static_cast<float>(x) - d;
      disparity(x, y) = is_candidate(d) ? d : invalid_disparity;
      validity(x, y) = !is_candidate(d) ? validity::no_candidate : u < -0.5f ? validity::filled : 0;
      right(x, y) = is_candidate(r) ? r : invalid_disparity;
    }
  return {disparity.view(), validity.view(), right.view(), {}};
}

TEST(UserMethod, IsRefinedLikeGivenMaps) {
  Image<float> disparity(size), right(size);
  Image<std::uint8_t> validity(size);
  StereoPair given = pair();
  given.maps = maps_of(disparity, validity, right);
  for (const char* refinements : {"none", "median", "left_right,speckle,fill,median"})
    for (const Device& device : {cpu, oracle}) {
      SCOPED_TRACE(refinements);
      Pipeline pipeline(stripes());
      pipeline.set("refinements", refinements);
      const Matched result = matched(pipeline, problem(), pair(), device);
      Problem refined = problem();
      refined.refine_only = true;
      const Matched expected = matched(pipeline, refined, given, device);
      EXPECT_TRUE(same_bits(result.disparity.view(), expected.disparity.view()));
      EXPECT_TRUE(same_bits(result.validity.view(), expected.validity.view()));
    }
}

TEST(UserMethod, GivesTheOutputsThatAreRequested) {
  Image<float> disparity(size), right(size);
  Image<std::uint8_t> validity(size);
  maps_of(disparity, validity, right);
  Problem all = problem();
  all.want_right = all.want_confidence = true;
  Pipeline pipeline(stripes());
  pipeline.set("confidence.stage", "none");
  const Matched result = matched(pipeline, all);
  EXPECT_TRUE(same_bits(result.right.view(), right.view()));
  for (int x = 0; x < size.width; ++x) EXPECT_EQ(result.confidence(x, 7), validity(x, 7) == 0 ? 0.5f : 0.0f);
  pipeline.set("confidence.stage", "learned");
  const Matched learned = matched(pipeline, all);
  EXPECT_FALSE(same_bits(result.confidence.view(), learned.confidence.view()));
}

TEST(UserMethod, ReadsTheWholePairForARegion) {
  Pipeline pipeline(stripes());
  pipeline.set("refinements", "median");
  const Matched whole = matched(pipeline, problem());
  Problem part = problem();
  part.region = Rect{20, 10, 15, 20};
  const Matched result = matched(pipeline, part);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool is_inside = x >= 20 && x < 35 && y >= 10 && y < 30;
      EXPECT_EQ(result.validity(x, y), is_inside ? whole.validity(x, y) : validity::outside);
      if (is_inside && whole.validity(x, y) == 0) {
        EXPECT_EQ(result.disparity(x, y), whole.disparity(x, y));
      }
    }
}

TEST(UserMethod, SeesThePairAsItIs) {
  Image<std::uint8_t> mask(size);
  for (int y = 0; y < size.height; ++y)
    std::fill_n(mask.row(y), size.width, static_cast<std::uint8_t>(y < 9 ? 0 : 255));
  int calls = 0;
  Pipeline pipeline(UserMethod{.name = "looks", .cpu = [&](const UserCall& c) {
                                 ++calls;
                                 const Scene& s = scene();
                                 const auto reference = on_host<const std::uint8_t>(c.reference);
                                 EXPECT_TRUE(same_bits(reference, c.from_right ? s.right.view() : s.left.view()));
                                 EXPECT_EQ(on_host<const std::uint8_t>(c.mask_reference).empty(), c.from_right);
                                 const auto made = on_host<float>(c.disparity);
                                 for (int y = 0; y < made.height; ++y) std::fill_n(made.row(y), made.width, 1.0f);
                               }});
  StereoPair masked = pair();
  masked.mask_left = mask.view();
  Problem both = Problem::of(masked, range);
  both.want_right = true;
  const Matched result = matched(pipeline, both, masked);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(result.validity(30, 8), validity::masked);
  EXPECT_EQ(result.validity(30, 9), 0);
}

TEST(UserMethod, WhatItDoesNotWriteIsInvalid) {
  Pipeline pipeline(UserMethod{.name = "lazy", .cpu = [](const UserCall& c) {
                                 const auto made = on_host<float>(c.disparity);
                                 std::fill_n(made.row(4), made.width, 0.0f);
                               }});
  const Matched result = matched(pipeline, problem());
  EXPECT_EQ(result.validity(30, 4), 0);
  EXPECT_EQ(result.validity(30, 5), validity::no_candidate);
}

TEST(UserMethod, OnAGpuItWritesDeviceMemory) {
  const Matched expected = matched(Pipeline(stripes()), problem());
  for (gpu::Device* device : gpu::usable_devices()) {
    SCOPED_TRACE(device->name());
    Pipeline pipeline(
        UserMethod{.name = "stripes", .gpu = [&](const UserCall& c) {
                     const DeviceImageView& d = c.disparity;
                     Image<float> map(d.size());
                     write_map(c, map.view(), {});
                     const auto queue = gpu::device(device->name()).make_queue();
                     queue->wait_for_native(*c.stream);
                     queue->upload<float>(map.view(), {d.memory, d.offset, d.width, d.height, d.channels, d.pitch});
                     queue->let_native_wait(*c.stream);
                     queue->wait();
                   }});
    const Matched result = matched(pipeline, problem(), pair(), {.name = device->name()});
    EXPECT_TRUE(same_bits(result.disparity.view(), expected.disparity.view()));
    EXPECT_TRUE(same_bits(result.validity.view(), expected.validity.view()));
  }
}

TEST(UserMethod, MisuseIsASentence) {
  EXPECT_NE(error_of([] { Pipeline(UserMethod{.name = "", .cpu = [](const UserCall&) {}}); }).find("requires a name"),
            std::string::npos);
  Pipeline fails(UserMethod{.name = "net", .cpu = [](const UserCall&) { throw std::runtime_error("no weights"); }});
  EXPECT_EQ(error_of([&] { matched(fails, problem()); }), "the method 'net' failed: no weights");
  Pipeline pipeline(stripes());
  EXPECT_EQ(pipeline.method(), "stripes");
  EXPECT_NE(error_of([&] { pipeline.set("select.subpixel", "parabola"); }).find("has no parameter"), std::string::npos);
  pipeline.set("aggregation.stage", "box");
  EXPECT_EQ(error_of([&] { matched(pipeline, problem()); }),
            "the method 'stripes' has no slot 'aggregation', whose stage would have no effect; leave the slot empty");
  Problem costs = problem();
  costs.volumes.want_cost = true;
  EXPECT_EQ(error_of([&] { matched(Pipeline(stripes()), costs); }),
            "the method 'stripes' computes no costs, which are requested; request other outputs");
  Problem confidence = problem();
  confidence.want_confidence = true;
  Pipeline unrated(UserMethod{.name = "plain", .cpu = stripes().cpu});
  unrated.set("confidence.stage", "none");
  EXPECT_NE(error_of([&] { matched(unrated, confidence); }).find("no stage that computes the output 'confidence'"),
            std::string::npos);
}

}  // namespace
}  // namespace stereopsis::user_method_test
