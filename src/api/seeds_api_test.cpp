// Tests of seeds: whole pipelines with disparities that are known beforehand, on all devices.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/every_device.hpp"

namespace stereopsis::seeds_api_test {
namespace {

using namespace test;

constexpr DisparityRange range{0, 24};
constexpr Size size{148, 84};
constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

const Scene& scene() {
  static const Scene made = make_scene({.size = size, .disparities = range.count, .noise = 12});
  return made;
}

// One pixel of 40 has its true disparity, and a tenth of these a wrong one.
Image<float> true_seeds() {
  Image<float> seeds(size, 1, unknown);
  for (int i = 0; i < size.width * size.height; i += 40) {
    const int x = i % size.width, y = i / size.width;
    seeds(x, y) = i % 400 == 0 ? 3 : scene().disparity_left(x, y);
  }
  return seeds;
}

Pipeline with_seeds(const char* method) {
  Pipeline pipeline(method);
  pipeline.set("seeds.stage", "seeds");
  return pipeline;
}

StereoPair pair_with(const Image<float>& seeds) {
  StereoPair pair{scene().left, scene().right};
  pair.seeds = seeds.view();
  return pair;
}

Matched matched(const Pipeline& pipeline, const StereoPair& pair, const Device& device = {.name = "cpu"}) {
  Problem problem = Problem::of(pair, range);
  problem.want_confidence = true;
  return Matcher(Plan(pipeline, problem, device)).match(pair);
}

double share_wrong(const Matched& result) {
  int wrong = 0, all = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = range.count; x < size.width; ++x) {
      ++all;
      if (!(std::abs(result.disparity(x, y) - scene().disparity_left(x, y)) <= 1)) ++wrong;
    }
  return static_cast<double>(wrong) / all;
}

TEST(Seeds, GuideEveryMethodToTheSameBitsOnEveryDevice) {
  const Image<float> seeds = true_seeds();
  const StereoPair pair = pair_with(seeds);
  for (const char* method :
       {"sgm", "balanced", "sgm-learned-fast", "banz-sgm", "zncc", "ad-census", "costfilter", "census-guided"}) {
    SCOPED_TRACE(method);
    const Matched expected = matched(with_seeds(method), pair);
    EXPECT_LT(share_wrong(expected), 0.9 * share_wrong(matched(Pipeline(method), {pair.left, pair.right})));
    for (const Device& device : every_device()) {
      SCOPED_TRACE(device.name);
      expect_same_maps(matched(with_seeds(method), pair, device), expected);
    }
  }
}

TEST(Seeds, WithoutTrustChangeNothing) {
  const Image<float> seeds = true_seeds(), trust(size, 1, 0);
  StereoPair pair = pair_with(seeds);
  pair.seed_trust = trust.view();
  const Matched without = matched(Pipeline("sgm"), {pair.left, pair.right});
  for (const Device& device : every_device()) expect_same_maps(matched(with_seeds("sgm"), pair, device), without);
  pair.seed_trust = {};  // the same plan takes pairs with and without trust
  Matcher matcher(Plan(with_seeds("sgm"), Problem::of(pair, range)));
  const Matched trusted = matcher.match(pair);
  pair.seed_trust = trust.view();
  EXPECT_TRUE(same_bits(matcher.match(pair).disparity.view(), without.disparity));
  pair.seed_trust = {};
  EXPECT_TRUE(same_bits(matcher.match(pair).disparity.view(), trusted.disparity));
}

// Where the images show nothing but noise, seeds decide the disparity, and the pixels are filled.
TEST(Seeds, MeasureNoPixel) {
  const auto left = random_image<std::uint8_t>(size, 1, 120, 123),
             right = random_image<std::uint8_t>(size, 2, 120, 123);
  Image<float> seeds(size, 1, unknown);
  for (int y = 2; y < size.height; y += 4)
    for (int x = 2; x < size.width; x += 4) seeds(x, y) = 9;
  StereoPair pair{left, right};
  pair.seeds = seeds.view();
  Pipeline pipeline = with_seeds("sgm");
  const Matched result = matched(pipeline, pair);
  int as_seeded = 0, measured = 0, all = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = range.count; x < size.width; ++x) {
      ++all;
      if (std::abs(result.disparity(x, y) - 9) <= 1) ++as_seeded;
      if (result.validity(x, y) == 0) ++measured;
    }
  EXPECT_GT(as_seeded, 0.9 * all);
  EXPECT_LT(measured, 0.25 * all);
}

// Methods whose support is finite compute a region exactly. costfilter computes the right view with seeds of its own.
TEST(Seeds, AreReadWithTheRegion) {
  Pipeline summed = with_seeds("banz-sgm"), filtered = with_seeds("costfilter");
  summed.set("optimisation.stage", "none");
  summed.set("aggregation.stage", "box");
  summed.set("refinements", "none");
  filtered.set("refinements", "left_right");
  filtered.set("aggregation.radius", "3");
  const Image<float> seeds = true_seeds();
  const StereoPair pair = pair_with(seeds);
  for (const Pipeline& pipeline : {summed, filtered}) {
    Problem problem = Problem::of(pair, range);
    const Matched whole = Matcher(Plan(pipeline, problem)).match(pair);
    const Rect region{30, 30, 30, 20};
    problem.region = region;
    const Matched part = Matcher(Plan(pipeline, problem)).match(pair);
    EXPECT_TRUE(
        same_bits(part.disparity.view().crop(region), ImageView<const float>(whole.disparity.view().crop(region))));
    EXPECT_TRUE(same_bits(part.validity.view().crop(region),
                          ImageView<const std::uint8_t>(whole.validity.view().crop(region))));
  }
}

TEST(Seeds, FitInLessMemoryOrAreRefused) {
  const Image<float> seeds = true_seeds();
  const StereoPair pair = pair_with(seeds);
  for (const Device& device : every_device())
    expect_same_in_stripes(with_seeds("sgm"), Problem::of(pair, range), pair, device);
}

std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Seeds, ThatDoNotFitAreRefusedWithTheReason) {
  Image<float> seeds = true_seeds();
  const auto refused = [&](const Pipeline& pipeline, const StereoPair& pair, const std::string& why) {
    const std::string message = refusal_of([&] { matched(pipeline, pair); });
    EXPECT_NE(message.find(why), std::string::npos) << why << ": " << message;
  };
  const StereoPair pair = pair_with(seeds);
  refused(Pipeline("sgm"), pair, "the matcher was not planned for the seeds; plan for seeds, or leave it out");
  refused(with_seeds("sgm"), {pair.left, pair.right}, "no memory was passed for the seeds");
  refused(with_seeds("prehn-pyramid"), pair, "seeds.stage = none");
  const Image<float> small({size.width, size.height - 1}, 1, 5);
  refused(with_seeds("sgm"), pair_with(small), "the shape of the seeds is 148×83 pixels");
  Image<float> trust(size, 1, 1);
  StereoPair trusted = pair;
  trusted.seed_trust = trust.view();
  trust(3, 2) = 1.5f;
  refused(with_seeds("sgm"), trusted, "have the value 1.5 at x = 3, y = 2; pass 0 to 1");
  seeds(5, 4) = std::numeric_limits<float>::infinity();
  refused(with_seeds("sgm"), pair, "have the value inf at x = 5, y = 4; pass finite disparities");
}

}  // namespace
}  // namespace stereopsis::seeds_api_test
