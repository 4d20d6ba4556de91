// Tests that stripes of an image, each matched by itself, give the same result as the whole image.
#include <gtest/gtest.h>

#include <sstream>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"
#include "support/striped.hpp"

namespace stereopsis::stripes_test {
namespace {

using namespace test;

constexpr DisparityRange range{-2, 21};
const Scene& scene() {
  static const Scene made = make_scene({.size = {67, 59}, .disparities = 16, .noise = 4});
  return made;
}
StereoPair pair() { return {scene().left, scene().right, {}, {}}; }

Pipeline method(const std::string& name, const std::string& settings) {
  Pipeline pipeline(name);
  std::istringstream in(settings);
  for (std::string setting; in >> setting;)
    pipeline.set(setting.substr(0, setting.find('=')), setting.substr(setting.find('=') + 1));
  return pipeline;
}

void expect_stripes_equal_the_whole(const Pipeline& pipeline, const std::vector<Device>& devices,
                                    std::initializer_list<int> counts, const StereoPair& whole = pair()) {
  Problem problem = Problem::of(whole, range);
  problem.want_confidence = true;
  const Matched expected = Matcher(Plan(pipeline, problem)).match(whole);
  Striped striped(whole, range, pipeline, devices);
  for (const int count : counts) {
    SCOPED_TRACE(testing::Message() << count << " stripes");
    const Matched got = striped.match(count);
    EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity));
    EXPECT_TRUE(same_bits(got.validity.view(), expected.validity));
    EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence));
  }
}

// Settings with small regions and short rows between edges, so that the stripes of a small image do not contain all of
// a region or row.
const char* const settings[] = {"sgm.paths=4 speckle.size=9", "sgm.paths=8 sgm.p2=90 sgm.p2_min=30 speckle.size=3",
                                "sgm.gradient=0 sgm.p2_min=0 vote_fill.enabled=true vote_fill.distance=5",
                                "fill.mode=cross speckle.enabled=false", "fill.mode=background speckle.size=5"};

TEST(Stripes, OnTheCpuEqualTheWhole) {
  for (const char* const setting : settings) {
    SCOPED_TRACE(setting);
    using Counts = std::initializer_list<int>;
    expect_stripes_equal_the_whole(method("sgm", setting), {{.name = "cpu"}},
                                   sanitized ? Counts{2, 7} : Counts{1, 2, 3, 7, 50});
  }
  for (const char* const setting :
       {"", "sgm.paths=4", "cost.window=5 sgm.p2=400 left_right.enabled=true fill.enabled=true"}) {
    SCOPED_TRACE(setting);
    expect_stripes_equal_the_whole(method("banz-sgm", setting), {{.name = "cpu"}}, {2, 7});
  }
}

TEST(Stripes, OfFiniteRequiredInputEqualTheWhole) {
  const char* const methods[][2] = {{"zncc", "speckle.size=9"},
                                    {"census-guided", "left_right.enabled=true fill.enabled=true levels.lambda=0"},
                                    {"prehn-window", "left_right.enabled=true fill.enabled=true"},
                                    {"prehn-pyramid", ""},
                                    {"asw-separable", ""},
                                    {"esaw", ""}};
  for (const auto& [name, setting] : methods) {
    SCOPED_TRACE(name);
    expect_stripes_equal_the_whole(method(name, setting), {{.name = "cpu"}}, {1, 3, 7});
  }
}

TEST(Stripes, FillsReadAsManyRowsAsTheyNeed) {
  const StereoPair whole = pair();
  Striped striped(whole, range, method("sgm", "speckle.size=2"), {{.name = "cpu"}});
  striped.match(50);
  EXPECT_GT(striped.grown, 0);
}

TEST(Stripes, OnSeveralDevicesEqualTheWhole) {
  std::vector<Device> devices{{.name = "cpu"},
                              {.name = "cpu", .implementation = Implementation::plain},
                              {.name = "cpu", .implementation = Implementation::oracle}};
  for (gpu::Device* device : gpu::usable_devices())
    for (const Implementation i : {Implementation::fused, Implementation::plain})
      devices.push_back({.name = device->name(), .implementation = i});
  for (const char* const setting : settings) {
    SCOPED_TRACE(setting);
    expect_stripes_equal_the_whole(method("sgm", setting), devices, {3, 4});
  }
}

TEST(Stripes, MasksComeAlong) {
  Image<std::uint8_t> mask(scene().left.size());
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) mask(x, y) = (x / 5 + y / 7) % 4 == 0 ? 0 : 255;
  StereoPair masked = pair();
  masked.mask_left = mask.view();
  expect_stripes_equal_the_whole(method("sgm", ""), {{.name = "cpu"}}, {3}, masked);
}

// Paths that read a volume: two matching costs, words of more than 64 bits, and costs that are no numbers of bits.
TEST(Stripes, OfFurtherCostsEqualTheWhole) {
  std::vector<Device> devices{{.name = "cpu"}, {.name = "cpu", .implementation = Implementation::plain}};
  for (gpu::Device* device : gpu::usable_devices()) devices.push_back({.name = device->name()});
  for (const char* const setting : {"plus.stage=census_gradient", "cost.stage=census cost.window=11x9",
                                    "cost.stage=absolute_difference", "cost.stage=colour_gradient"}) {
    SCOPED_TRACE(setting);
    if (!sanitized) expect_stripes_equal_the_whole(method("sgm", setting), devices, {7});
    expect_stripes_equal_the_whole(method("sgm", setting), devices, {3});
  }
}

// One pixel in ten has a seed, of which a third are wrong.
StereoPair seeded(const Image<float>& seeds, const Image<float>& trust) {
  StereoPair given = pair();
  given.seeds = seeds.view(), given.seed_trust = trust.view();
  return given;
}

TEST(Stripes, SeedsComeAlong) {
  Image<float> seeds(scene().left.size()), trust(scene().left.size());
  for (int y = 0; y < seeds.height(); ++y)
    for (int x = 0; x < seeds.width(); ++x) {
      const int at = 31 * y + 17 * x;
      seeds(x, y) = at % 10 != 0  ? invalid_disparity
                    : at % 3 == 0 ? static_cast<float>(at % 16)
                                  : scene().disparity_left(x, y);
      trust(x, y) = static_cast<float>(at % 5) / 4;
    }
  const StereoPair given = seeded(seeds, trust);
  std::vector<Device> devices{{.name = "cpu"}, {.name = "cpu", .implementation = Implementation::oracle}};
  for (gpu::Device* device : gpu::usable_devices()) devices.push_back({.name = device->name()});
  for (const char* const setting : settings) {
    SCOPED_TRACE(setting);
    const std::string seeded = std::string("seeds.stage=seeds ") + setting;
    if (!sanitized) expect_stripes_equal_the_whole(method("sgm", seeded), devices, {7}, given);
    expect_stripes_equal_the_whole(method("sgm", seeded), devices, {3}, given);
  }
  expect_stripes_equal_the_whole(method("banz-sgm", "seeds.stage=seeds sgm.paths=4"), devices, {2}, given);
  expect_stripes_equal_the_whole(method("census-guided", "seeds.stage=seeds levels.lambda=0"), devices, {3}, given);
  expect_stripes_equal_the_whole(method("zncc", "seeds.stage=seeds"), devices, {3}, given);
}

TEST(Stripes, WhatHasNoMeaningIsRefused) {
  const StereoPair whole = pair();
  const auto refused = [&](const char* name, const BoundaryStripe& stripe, const char* sentence) {
    Problem problem = Problem::of(whole, range);
    problem.stripe = stripe;
    try {
      Plan(Pipeline(name), problem);
      ADD_FAILURE() << "not refused: " << sentence;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(sentence), std::string::npos) << e.what();
    }
  };
  refused("sgm", {.first_row = 3, .rows = 1000}, "is not inside the image");
  refused("sgm", {.first_row = 0, .rows = 20, .above = true},
          "path costs from the row above it, but the image does not have that row");
  refused("sgm", {.first_row = 10, .rows = 49, .below = true},
          "path costs from the row below it, but the image does not have that row");
  refused("census-guided", {.first_row = 10, .rows = 20}, "cannot be matched in stripes");
  refused("zncc", {.first_row = 10, .rows = 20}, "cannot be matched in stripes");
}

TEST(Stripes, PipelinesThatHaveNoneAreRefused) {
  const auto refused = [](const char* name, const char* setting, const char* sentence) {
    try {
      partition_plan(method(name, setting));
      ADD_FAILURE() << "not refused: " << sentence;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(sentence), std::string::npos) << e.what();
    }
  };
  refused("sgm", "fill.mode=hirschmueller", "asks whole regions");
  refused("sgm", "aggregation.stage=guided", "without an aggregation");
  refused("sgm", "cost.stage=ad_census", "only with matching costs of feature words");
  refused("zncc", "prepare.factor=2", "reduces the images");
  refused("sgm", "density.stage=remeasure", "the slot density changes the refined maps");
  refused("ad-census", "", "any pixel depend on any other");
  refused("realtime-dp", "", "any pixel depend on any other");
  refused("realtime-bp", "", "any pixel depend on any other");
  refused("segment-support", "", "any pixel depend on any other");
}

TEST(Stripes, GivenMapsThatDoNotFitAreRefused) {
  const StereoPair whole = pair();
  Problem problem = Problem::of(whole, range);
  problem.refine_only = true;
  const Pipeline refinements = *partition_plan(method("sgm", "")).refined;
  Matcher matcher{Plan(refinements, problem)};
  Image<float> disparity(problem.size);
  Image<std::uint8_t> validity(problem.size);
  disparity.fill(3), validity.fill(0);
  const auto sentence = [&](const GivenMaps& maps) {
    try {
      StereoPair given;
      given.maps = maps;
      matcher.match(given);
      return std::string();
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(sentence({disparity.view(), validity.view(), {}, {}}), "");
  EXPECT_NE(sentence({}).find("no memory was passed for the given disparity (its data is null)"), std::string::npos)
      << sentence({});
  disparity(5, 7) = invalid_disparity;
  EXPECT_NE(sentence({disparity.view(), validity.view(), {}, {}}).find("contradict each other at 5,7"),
            std::string::npos);
  problem.want_right = true;
  EXPECT_THROW(Plan(refinements, problem), Error);
}

TEST(Stripes, PathCostsThatDoNotFitAreRefused) {
  const StereoPair whole = pair();
  Problem problem = Problem::of(whole, range);
  problem.stripe = BoundaryStripe{.first_row = 10, .rows = 20, .above = true};
  Matcher matcher{Plan(Pipeline("sgm"), problem)};
  const auto sentence = [&](const Image<std::uint16_t>& above) {
    StereoPair given = whole;
    given.paths_above = above.view();
    try {
      matcher.match(given);
      return std::string();
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  Image<std::uint16_t> costs({67, 1}, range.count);
  costs.fill(1);
  EXPECT_NE(sentence(costs).find("have no path cost of 0 at 0,0"), std::string::npos) << sentence(costs);
  EXPECT_NE(
      sentence(Image<std::uint16_t>({66, 1}, range.count)).find("planned for 67×1 pixels, 16-bit, 21 disparities"),
      std::string::npos);
  EXPECT_NE(sentence({}).find("its data is null"), std::string::npos) << sentence({});
  costs.fill(0);
  EXPECT_EQ(sentence(costs), "");
}

}  // namespace
}  // namespace stereopsis::stripes_test
