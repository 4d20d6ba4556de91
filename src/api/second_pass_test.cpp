// Tests of the second pass: whole pipelines with planes as seeds, on all devices.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/every_device.hpp"

namespace stereopsis::second_pass_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 32};
constexpr Size size{196, 132};

const Scene& scene() {
  static const Scene made =
      make_scene({.scene = "room", .size = size, .disparities = range.count, .seed = 5, .noise = 6});
  return made;
}

Pipeline with_second_pass(const char* method) {
  Pipeline pipeline(method);
  pipeline.set("second_pass.stage", "planes");
  return pipeline;
}

Matched matched(const Pipeline& pipeline, const StereoPair& pair, const Device& device = {.name = "cpu"}) {
  Problem problem = Problem::of(pair, range);
  problem.want_confidence = true;
  return Matcher(Plan(pipeline, problem, device)).match(pair);
}

// Returns the share of wrong pixels among the visible ones, of which only the measured ones may count.
double share_wrong(const Matched& result, bool measured_only) {
  int wrong = 0, all = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = range.count; x < size.width; ++x) {
      if (scene().nonocc_left(x, y) != 255 || (measured_only && result.validity(x, y) != 0)) continue;
      ++all;
      if (!(std::abs(result.disparity(x, y) - scene().disparity_left(x, y)) <= 1)) ++wrong;
    }
  return static_cast<double>(wrong) / all;
}

TEST(SecondPass, GivesTheSameBitsOnEveryDevice) {
  const StereoPair pair{scene().left, scene().right};
  for (const char* method : {"sgm", "sgm-learned-fast", "banz-sgm"}) {
    SCOPED_TRACE(method);
    const Matched expected = matched(with_second_pass(method), pair);
    EXPECT_FALSE(same_bits(matched(Pipeline(method), pair).disparity.view(), expected.disparity));
    for (const Device& device : every_device()) {
      SCOPED_TRACE(device.name);
      expect_same_maps(matched(with_second_pass(method), pair, device), expected);
    }
  }
}

TEST(SecondPass, LeavesFewerErrors) {
  const StereoPair pair{scene().left, scene().right};
  const Matched first = matched(Pipeline("sgm"), pair), second = matched(with_second_pass("sgm"), pair);
  EXPECT_LT(share_wrong(second, false), 0.95 * share_wrong(first, false));
  EXPECT_LT(share_wrong(second, true), share_wrong(first, true));
}

// The costs that are delivered are those of the images, and the sums are those of the second pass.
TEST(SecondPass, DeliversTheCostsOfTheImages) {
  const StereoPair pair{scene().left, scene().right};
  Problem problem = Problem::of(pair, range);
  problem.volumes.want_cost = problem.volumes.want_optimised = true;
  const Matched plain = Matcher(Plan(Pipeline("sgm"), problem)).match(pair),
                twice = Matcher(Plan(with_second_pass("sgm"), problem)).match(pair);
  EXPECT_TRUE(same_bits(twice.cost.view().as<std::uint8_t>(), plain.cost.view().as<std::uint8_t>()));
  EXPECT_FALSE(same_bits(twice.optimised.view().as<std::uint16_t>(), plain.optimised.view().as<std::uint16_t>()));
}

TEST(SecondPass, TakesSeedsInBothPasses) {
  const Image<float> seeds = scene().disparity_left;
  StereoPair pair{scene().left, scene().right};
  pair.seeds = seeds.view();
  Pipeline pipeline = with_second_pass("sgm");
  pipeline.set("seeds.stage", "seeds");
  const Matched seeded = matched(pipeline, pair);
  EXPECT_LT(share_wrong(seeded, false), share_wrong(matched(with_second_pass("sgm"), {pair.left, pair.right}), false));
  for (const Device& device : every_device()) expect_same_maps(matched(pipeline, pair, device), seeded);
}

// Both passes run in stripes of rows if the memory is small, also if a learned network computes the costs.
void expect_stripes_equal_the_whole(const char* method, const Size& of_images, const std::vector<Device>& devices) {
  const DisparityRange wide{-2, 47};
  const Scene room = make_scene({.scene = "room", .size = of_images, .disparities = wide.count, .noise = 6});
  Image<float> seeds(of_images, 1, invalid_disparity);
  for (int i = 0; i < of_images.width * of_images.height; i += 41)
    seeds(i % of_images.width, i / of_images.width) = room.disparity_left(i % of_images.width, i / of_images.width);
  for (const bool seeded : {false, true}) {
    StereoPair pair{room.left, room.right};
    if (seeded) pair.seeds = seeds.view();
    Pipeline pipeline = with_second_pass(method);
    if (seeded) pipeline.set("seeds.stage", "seeds");
    Problem problem = Problem::of(pair, wide);
    problem.want_confidence = true;
    for (Device device : devices) {
      device.threads = 2;  // the memory of more threads is larger than that of the images
      SCOPED_TRACE(testing::Message() << method << " on " << device.name << (seeded ? " with seeds" : ""));
      expect_same_in_stripes(pipeline, problem, pair, device);
    }
  }
}

TEST(SecondPass, InStripesEqualsTheWholeImage) {
  for (const char* method : {"sgm", "banz-sgm"}) expect_stripes_equal_the_whole(method, {67, 109}, every_device());
  expect_stripes_equal_the_whole("accurate", {67, 61}, every_device());
}

TEST(SecondPass, InManyStripesEqualsTheWholeImage) {
  for (const char* method : {"sgm", "accurate"}) expect_stripes_equal_the_whole(method, {53, 611}, {{.name = "cpu"}});
}

std::string refusal_of(
    const Pipeline& pipeline, const std::function<void(Problem&)>& change = [](Problem&) {}) {
  const StereoPair pair{scene().left, scene().right};
  Problem problem = Problem::of(pair, range);
  change(problem);
  try {
    Plan plan(pipeline, problem);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SecondPass, ThatCannotRunIsRefusedWithTheReason) {
  const auto expect = [](const std::string& got, const char* part) {
    EXPECT_NE(got.find(part), std::string::npos) << got;
  };
  for (const char* method : {"zncc", "ad-census", "prehn-pyramid", "costfilter"})
    expect(refusal_of(with_second_pass(method)), "which requires semi-global matching");
  Pipeline reduced = with_second_pass("sgm");
  reduced.set("prepare.stage", "reduce");
  reduced.set("prepare.factor", "2");
  expect(refusal_of(reduced), "set prepare.factor = 1");
  Pipeline unrated = with_second_pass("sgm");
  unrated.set("confidence.stage", "none");
  EXPECT_EQ(refusal_of(unrated), "");
  unrated.set("second_pass.confidence", "0.6");
  expect(refusal_of(unrated), "set second_pass.confidence = 0");
  Pipeline given = with_second_pass("sgm");
  given.set("cost.stage", "volume");
  expect(refusal_of(given,
                    [](Problem& problem) {
                      problem.volumes.given = PixelType::u8;
                      problem.volumes.without_images = true;
                    }),
         "pass the images, too");
}

}  // namespace
}  // namespace stereopsis::second_pass_test
