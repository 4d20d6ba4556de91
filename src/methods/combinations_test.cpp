// Compares fused operations, single stages and the oracles on every device, bit for bit, for random pipelines. A
// pipeline may combine any cost with any aggregation, optimisation and refinements. STEREOPSIS_PIPELINES=COUNT[@FIRST]
// selects the pipelines.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <random>

#include "graph/registry.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::combinations_test {
namespace {

using namespace test;

std::vector<std::string> stages_of(Slot slot, bool may_be_none) {
  std::vector<std::string> names = registry().names(slot);
  std::erase(names, "volume");  // given volumes are tested in volumes_test.cpp
  if (may_be_none) names.emplace_back("none");
  return names;
}

Pipeline combined(const std::string& cost, const std::string& aggregation, const std::string& optimisation) {
  Pipeline pipeline("banz-sgm");
  pipeline.set("refinements", "none");
  pipeline.set("cost.stage", cost);
  pipeline.set("aggregation.stage", aggregation);
  pipeline.set("optimisation.stage", optimisation);
  return pipeline;
}

struct Setting {
  Pipeline pipeline;
  Problem problem;
  StereoPair pair;
};

Matched run(const Setting& s, const Device& device) {
  return Matcher(Plan(s.pipeline, s.problem, device)).match(s.pair);
}

void expect_same(const Matched& a, const Matched& b) {
  EXPECT_TRUE(same_bits(a.disparity.view(), b.disparity.view()));
  EXPECT_TRUE(same_bits(a.validity.view(), b.validity.view()));
  EXPECT_TRUE(same_bits(a.right.view(), b.right.view()));
  EXPECT_TRUE(same_bits(a.confidence.view(), b.confidence.view()));
}

std::vector<Device> all_devices() {
  std::vector<Device> list;
  for (const Implementation how : {Implementation::fused, Implementation::plain}) {
    list.push_back({.name = "cpu", .threads = 2, .implementation = how});
    for (gpu::Device* device : gpu::usable_devices()) list.push_back({.name = device->name(), .implementation = how});
  }
  return list;
}

// Every operation has functions for every device. Otherwise, the oracle would replace the requested implementation.
TEST(Combinations, WhateverIsDefinedHasAFunctionOfEveryDevice) {
  for (const StageDescriptor* entry : registry().entries) {
    if (entry->functions.oracle == nullptr) continue;
    EXPECT_NE(entry->functions.cpu, nullptr) << entry->name;
    EXPECT_NE(entry->functions.gpu, nullptr) << entry->name;
  }
}

TEST(Combinations, EveryCostRunsWithEveryAggregationAndOptimisation) {
  const Scene scene = make_scene({.size = {31, 21}, .disparities = 8, .noise = 3});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  int count = 0;
  for (const std::string& cost : stages_of(Slot::cost, false))
    for (const std::string& aggregation : stages_of(Slot::aggregation, true))
      for (const std::string& optimisation : stages_of(Slot::optimisation, true)) {
        SCOPED_TRACE(cost + " " + aggregation + " " + optimisation);
        const Setting s{combined(cost, aggregation, optimisation), Problem::of(pair, {-1, 9}), pair};
        const Matched expected = run(s, {.name = "cpu", .implementation = Implementation::oracle});
        expect_same(run(s, {.name = "cpu", .threads = 2}), expected);
        expect_same(run(s, {.name = "cpu", .threads = 2, .implementation = Implementation::plain}), expected);
        ++count;
      }
  std::cout << count << " combinations equal the definitions\n";
}

// The volume of two added 8-bit costs is the sum of their volumes.
TEST(Combinations, AnyTwoCostsAreAdded) {
  const Scene scene = make_scene({.size = {27, 15}, .disparities = 8, .noise = 3});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  Problem problem = Problem::of(pair, {-1, 9});
  problem.volumes.want_cost = true;
  const auto costs = stages_of(Slot::cost, false);
  std::map<std::string, Matched> alone;
  for (const std::string& cost : costs)
    alone.emplace(cost, run({combined(cost, "none", "sgm"), problem, pair}, {.name = "cpu"}));
  int sums = 0;
  for (const std::string& first : costs)
    for (const std::string& second : costs) {
      SCOPED_TRACE(first + " + " + second);
      Setting s{combined(first, "none", "sgm"), problem, pair};
      s.pipeline.set("plus.stage", second);
      s.pipeline.set("sum.cost_weight", "70");
      s.pipeline.set("sum.plus_weight", "26");
      const Matched expected = run(s, {.name = "cpu", .implementation = Implementation::oracle});
      for (const Device& device : all_devices()) expect_same(run(s, device), expected);
      const AnyImageView a = alone.at(first).cost.view(), b = alone.at(second).cost.view(), c = expected.cost.view();
      ASSERT_EQ(c.type, PixelType::u8);
      if (a.type != PixelType::u8 || b.type != PixelType::u8) continue;
      ++sums;
      for (int y = 0; y < c.height; ++y)
        for (int x = 0; x < c.width; ++x)
          for (int k = 0; k < c.channels; ++k) {
            const auto at = [&](const AnyImageView& v) { return +v.as<std::uint8_t>()(x, y, k); };
            ASSERT_EQ(at(c), std::min((70 * at(a) + 26 * at(b) + 32) / 64, 255)) << x << " " << y << " " << k;
          }
    }
  EXPECT_GT(sums, 30);
}

class Drawn {
 public:
  explicit Drawn(std::uint32_t seed) : dice_(seed) {
    const Size size{1 + below(70), 1 + below(45)};
    scene_ = make_scene(
        {.size = {std::max(size.width, 16), std::max(size.height, 16)}, .disparities = 12, .seed = seed, .noise = 5});
    const Rect part{0, 0, size.width, size.height};
    mask_ = Image<std::uint8_t>(size, 1, 255);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) mask_(x, y) = below(12) != 0 ? 255 : 0;
    pair_ = {AnyImageView(scene_.left).crop(part), AnyImageView(scene_.right).crop(part), {}, {}};
    if (below(3) == 0) pair_.mask_left = mask_;
    if (below(3) == 0) pair_.mask_right = mask_;
  }

  Setting setting() {
    Setting s{pipeline(), Problem::of(pair_, {below(9) - 4, 1 + below(24)}), pair_};
    s.problem.want_right = below(2) == 0;
    s.problem.want_confidence = below(2) == 0;
    if (below(4) == 0) s.problem.region = region();
    return s;
  }

 private:
  int below(int n) { return static_cast<int>(dice_() % static_cast<std::uint32_t>(n)); }
  const std::string& any(const std::vector<std::string>& names) {
    return names[static_cast<std::size_t>(below(static_cast<int>(names.size())))];
  }
  Pipeline pipeline() {
    Pipeline p = combined(any(stages_of(Slot::cost, false)), any(stages_of(Slot::aggregation, true)),
                          any(stages_of(Slot::optimisation, true)));
    if (below(4) == 0) p.set("plus.stage", any(stages_of(Slot::cost, true)));
    std::string refinements;
    for (int i = below(4); i > 0; --i)
      refinements += (refinements.empty() ? "" : ",") + any(stages_of(Slot::refinement, false));
    p.set("refinements", refinements.empty() ? "none" : refinements);
    for (int i = below(5); i > 0; --i) {
      const auto all = p.parameters();
      const ParameterInfo& one = all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
      if (!one.choices.empty())
        p.set(one.name, any(one.choices));
      else if (one.type == "flag")
        p.set(one.name, below(2) == 0 ? "true" : "false");
    }
    return p;
  }
  Rect region() {
    const Size size = pair_.left.size();
    const int x = below(size.width), y = below(size.height);
    return {x, y, 1 + below(size.width - x), 1 + below(size.height - y)};
  }

  std::mt19937 dice_;
  Scene scene_;
  Image<std::uint8_t> mask_;
  StereoPair pair_;
};

TEST(Combinations, DrawnPipelinesGiveTheSameBitsOnEveryDevice) {
  // The user may set COUNT or COUNT@FIRST, so that several processes share the pipelines.
  const char* wanted = std::getenv("STEREOPSIS_PIPELINES");
  const int count = wanted != nullptr ? std::atoi(wanted) : sanitized ? 25 : 80;
  const char* from = wanted != nullptr ? std::strchr(wanted, '@') : nullptr;
  const int first = from != nullptr ? std::atoi(from + 1) : 0;
  int matched = 0, refused = 0, absent = 0;
  for (int i = first; i < first + count && !testing::Test::HasFailure(); ++i) {
    Drawn drawn(static_cast<std::uint32_t>(i));
    const Setting s = drawn.setting();
    SCOPED_TRACE(testing::Message() << "number " << i << ", " << s.problem.size.width << "x" << s.problem.size.height
                                    << ", " << s.problem.range.count << " from " << s.problem.range.min);
    std::string description;
    for (const PipelineSlot& slot : s.pipeline.slots()) description += " " + slot.kind;
    SCOPED_TRACE(description);
    std::optional<Matched> expected;
    try {
      expected = run(s, {.name = "cpu", .implementation = Implementation::oracle});
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::call) << error.what();
      EXPECT_THROW(run(s, {.name = "cpu", .threads = 2}), Error);
      ++refused;
      continue;
    }
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(device.name + (device.implementation == Implementation::plain ? ", stages alone" : ""));
      try {
        expect_same(run(s, device), *expected);
      } catch (const Error& error) {
        ASSERT_EQ(error.category(), ErrorCategory::unsupported) << error.what();
        ++absent;
      }
    }
    ++matched;
  }
  std::cout << matched << " pipelines on " << all_devices().size() << " devices and ways equal the definitions, "
            << refused << " refused, " << absent << " runs without a function on their device\n";
}

}  // namespace
}  // namespace stereopsis::combinations_test
