// Tests of the confidence output. The confidence of the selection is 0 for pixels without alternatives, and for pixels
// that were not measured. The learned confidence also rates filled pixels.
#include <gtest/gtest.h>

#include <cmath>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"
#include "support/every_device.hpp"

namespace stereopsis::confidence_test {
namespace {

using test::every_device;

constexpr int disparities = 24;

const Scene& scene() {
  static const Scene made = make_scene({.size = {96, 72}, .disparities = disparities, .noise = 4});
  return made;
}

Matched matched(const Pipeline& pipeline, const Device& device, DisparityRange range = {0, disparities}) {
  Problem problem = Problem::of({scene().left, scene().right, {}, {}}, range);
  problem.want_confidence = true;
  return Matcher(Plan(pipeline, problem, device)).match({scene().left, scene().right, {}, {}});
}

Pipeline with_confidence_of_selection(const char* method) {
  Pipeline pipeline(method);
  pipeline.set("confidence.stage", "none");
  return pipeline;
}

template <class F>
void for_each_pixel(const Matched& m, F&& f) {
  for (int y = 0; y < m.disparity.height(); ++y)
    for (int x = 0; x < m.disparity.width(); ++x) f(x, y);
}

TEST(Confidence, IsZeroOfPixelsThatWereNotMeasured) {
  for (const char* method : {"sgm", "ad-census", "prehn-pyramid", "balanced", "zncc"})
    for (const Device& device : every_device()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      const Matched m = matched(with_confidence_of_selection(method), device);
      int unmeasured = 0, confident = 0;
      for_each_pixel(m, [&](int x, int y) {
        unmeasured += m.validity(x, y) != 0;
        confident += m.confidence(x, y) > 0;
        if (m.validity(x, y) != 0) {
          EXPECT_EQ(m.confidence(x, y), 0) << x << "," << y;
        }
      });
      EXPECT_GT(unmeasured, 0);
      EXPECT_GT(confident, 96 * 72 / 4);
    }
}

TEST(LearnedConfidence, RatesFilledPixelsAndRejectsInvalidOnes) {
  for (const char* method : {"sgm", "ad-census", "prehn-pyramid", "zncc"})
    for (const Device& device : every_device()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      const Matched m = matched(Pipeline(method), device);
      int filled = 0, rated = 0;
      for_each_pixel(m, [&](int x, int y) {
        const float c = m.confidence(x, y);
        ASSERT_TRUE(c >= 0 && c <= 1) << c;
        if (std::isnan(m.disparity(x, y))) {
          EXPECT_EQ(c, 0) << x << "," << y;
        } else if (m.validity(x, y) != 0) {
          ++filled;
          rated += c > 0;
        }
      });
      EXPECT_GT(filled, 0);
      EXPECT_EQ(rated, filled);
    }
}

// Pixels within 1 pixel of the truth have a higher confidence than others. The mean confidence is close to the share of
// such pixels.
TEST(LearnedConfidence, IsTheShareOfGoodPixels) {
  const Scene other = make_scene({.scene = "planes", .size = {320, 240}, .disparities = 48, .noise = 6});
  Problem problem = Problem::of({other.left, other.right, {}, {}}, {0, 48});
  problem.want_confidence = true;
  for (const char* method : {"sgm", "zncc", "census-guided"}) {
    const Matched m =
        Matcher(Plan(Pipeline(method), problem, {.name = "cpu"})).match({other.left, other.right, {}, {}});
    double sum[2] = {}, count[2] = {};
    for_each_pixel(m, [&](int x, int y) {
      const int good = std::abs(m.disparity(x, y) - other.disparity_left(x, y)) <= 1;
      sum[good] += m.confidence(x, y), ++count[good];
    });
    const double of_bad = sum[0] / count[0], of_good = sum[1] / count[1], share = count[1] / (count[0] + count[1]);
    EXPECT_GT(of_good, of_bad + 0.3) << method;
    EXPECT_NEAR((sum[0] + sum[1]) / (count[0] + count[1]), share, 0.15) << method;
  }
}

// With the slot `density`, more pixels are measured, of which no larger share is wrong. All devices agree.
TEST(Density, MeasuresMorePixelsAtNoLargerShareOfWrongOnes) {
  const Scene other = make_scene({.scene = "table", .size = {320, 240}, .disparities = 48, .noise = 6});
  const StereoPair pair{other.left, other.right, {}, {}};
  const Problem problem = Problem::of(pair, {0, 48});
  for (const char* method : {"sgm", "balanced"}) {
    SCOPED_TRACE(method);
    Pipeline pipeline(method);
    double measured[2] = {}, wrong[2] = {};
    for (const int dense : {0, 1}) {
      pipeline.set("density.stage", dense ? "remeasure" : "none");
      const Matched first = Matcher(Plan(pipeline, problem, every_device()[0])).match(pair);
      for_each_pixel(first, [&](int x, int y) {
        if (first.validity(x, y) != 0) return;
        ++measured[dense];
        wrong[dense] += !(std::abs(first.disparity(x, y) - other.disparity_left(x, y)) <= 1);
      });
      for (const Device& device : every_device()) {
        if (device.implementation == Implementation::oracle)
          continue;  // takes long; the pipelines of `scene` include it
        const Matched m = Matcher(Plan(pipeline, problem, device)).match(pair);
        EXPECT_TRUE(test::same_bits(m.disparity.view(), first.disparity)) << device.name;
        EXPECT_TRUE(test::same_bits(m.validity.view(), first.validity)) << device.name;
      }
    }
    EXPECT_GT(measured[1], measured[0]);
    EXPECT_LE(wrong[1] / measured[1], wrong[0] / measured[0]);
  }
}

TEST(Density, RunsOnAllDevicesWithAndWithoutTheOutputConfidence) {
  Pipeline pipeline("sgm");
  pipeline.set("density.stage", "remeasure");
  const Matched with = matched(pipeline, every_device()[0]);
  Problem problem = Problem::of({scene().left, scene().right, {}, {}}, {0, disparities});
  for (const Device& device : every_device()) {
    SCOPED_TRACE(device.name);
    const Matched m = Matcher(Plan(pipeline, problem, device)).match({scene().left, scene().right, {}, {}});
    EXPECT_TRUE(test::same_bits(m.disparity.view(), with.disparity));
    EXPECT_TRUE(test::same_bits(m.validity.view(), with.validity));
  }
}

TEST(Density, RequiresAConfidence) {
  Pipeline pipeline("sgm");
  pipeline.set("density.stage", "remeasure");
  pipeline.set("confidence.stage", "none");
  try {
    matched(pipeline, {.name = "cpu"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("confidence.stage"), std::string::npos) << error.what();
  }
}

TEST(LearnedConfidence, OfARegionIsThatOfTheWholeImage) {
  const StereoPair pair{scene().left, scene().right, {}, {}};
  for (const char* method : {"prehn-window", "census-guided"}) {
    Pipeline pipeline(method);
    pipeline.set("levels.stage", "none");
    Problem problem = Problem::of(pair, {0, 8});
    problem.want_confidence = true;
    const Matched whole = Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair);
    for (const Rect region : {Rect{83, 61, 13, 11}, Rect{90, 3, 5, 7}, Rect{0, 66, 9, 6}}) {
      problem.region = region;
      const Matched part = Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair);
      EXPECT_TRUE(test::same_bits(part.confidence.view().crop(region), whole.confidence.view().crop(region)))
          << method << ", " << region.x << "," << region.y;
    }
  }
}

TEST(Density, OfARegionIsThatOfTheWholeImage) {
  const StereoPair pair{scene().left, scene().right, {}, {}};
  for (const char* method : {"prehn-window", "census-guided"}) {
    Pipeline pipeline(method);
    pipeline.set("levels.stage", "none");
    pipeline.set("density.stage", "remeasure");
    Problem problem = Problem::of(pair, {0, 8});
    const Matched whole = Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair);
    for (const Rect region : {Rect{83, 61, 13, 11}, Rect{90, 3, 5, 7}, Rect{0, 66, 9, 6}}) {
      problem.region = region;
      const Matched part = Matcher(Plan(pipeline, problem, {.name = "cpu"})).match(pair);
      EXPECT_TRUE(test::same_bits(part.disparity.view().crop(region), whole.disparity.view().crop(region)))
          << method << ", " << region.x << "," << region.y;
      EXPECT_TRUE(test::same_bits(part.validity.view().crop(region), whole.validity.view().crop(region)))
          << method << ", " << region.x << "," << region.y;
    }
  }
}

// The refinements of given maps, with the slot `density`, return the maps of the whole pipeline.
TEST(Density, AlsoRunsOnGivenMaps) {
  const StereoPair pair{scene().left, scene().right, {}, {}};
  Pipeline whole("sgm"), matching("sgm");
  whole.set("density.stage", "remeasure");
  matching.set("refinements", "none");
  Problem problem = Problem::of(pair, {0, disparities});
  problem.want_right = true;
  const Matched expected = Matcher(Plan(whole, problem, {.name = "cpu"})).match(pair);
  const Matched given = Matcher(Plan(matching, problem, {.name = "cpu"})).match(pair);
  Problem refining = Problem::of(pair, {0, disparities});
  refining.refine_only = true;
  StereoPair with_maps = pair;
  with_maps.maps = {given.disparity.view(), given.validity.view(), given.right.view(), {}};
  for (const Device& device : every_device()) {
    SCOPED_TRACE(device.name);
    const Matched m = Matcher(Plan(whole, refining, device)).match(with_maps);
    EXPECT_TRUE(test::same_bits(m.disparity.view(), expected.disparity));
    EXPECT_TRUE(test::same_bits(m.validity.view(), expected.validity));
  }
}

TEST(LearnedConfidence, IsChosenByTheSlot) {
  Pipeline pipeline("sgm");
  EXPECT_EQ(pipeline.get("confidence.stage"), "learned_confidence");
  pipeline.set("confidence.stage", "none");
  EXPECT_EQ(pipeline.get("confidence.stage"), "none");
  pipeline.set("confidence.stage", "learned");
  EXPECT_EQ(pipeline.get("confidence.stage"), "learned_confidence");
}

// A left pixel in column 0 has only the candidate with disparity 0. In columns 1 and 2, all other candidates may be
// neighbours of the best candidate.
TEST(Confidence, IsZeroWhereThereIsNoAlternative) {
  for (const char* method : {"sgm", "banz-sgm", "census-guided", "prehn-window", "esaw"})
    for (const Device& device : every_device()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      Pipeline pipeline = with_confidence_of_selection(method);
      pipeline.set("refinements", "none");
      pipeline.set("select.border_candidates", "false");
      const Matched m = matched(pipeline, device);
      for (int y = 0; y < m.confidence.height(); ++y)
        for (int x = 0; x < 2; ++x) EXPECT_EQ(m.confidence(x, y), 0) << x << "," << y;
      const Matched two = matched(pipeline, device, {0, 2});
      for_each_pixel(two, [&](int x, int y) { EXPECT_EQ(two.confidence(x, y), 0) << x << "," << y; });
    }
}

// For such a pair, rejection by confidence would otherwise reject every pixel.
TEST(Confidence, OfTwoDisparitiesRejectsNothing) {
  const Matched m = matched(Pipeline("balanced"), {.name = "cpu"}, {4, 2});
  int valid = 0;
  for_each_pixel(m, [&](int x, int y) { valid += m.disparity(x, y) == m.disparity(x, y); });
  EXPECT_GT(valid, 96 * 72 / 2);
}

std::string rejection_of(const StereoPair& pair) {
  try {
    match(pair, {0, disparities}, Pipeline("sgm"), {.name = "cpu"});
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Intensities, AboveWhiteAreRejected) {
  Image<float> left(96, 72), right(96, 72);
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x) left(x, y) = right(x, y) = static_cast<float>((37 * x + 11 * y) % 256);
  EXPECT_EQ(rejection_of({left, right, {}, {}}), "accepted");
  left(3, 5) = 255.4f;  // value as after the overshoot of an interpolation
  left(4, 5) = std::numeric_limits<float>::quiet_NaN();
  left(5, 5) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rejection_of({left, right, {}, {}}), "accepted");
  right(7, 6) = 65535;
  EXPECT_NE(rejection_of({left, right, {}, {}}).find("the intensity of the right image is 65535 at 7,6"),
            std::string::npos);
  right(7, 6) = -9999;
  EXPECT_NE(rejection_of({left, right, {}, {}}).find("is -9999 at 7,6"), std::string::npos);
}

TEST(Intensities, AboveTheBitDepthAreRejected) {
  AnyImage left(Image<std::uint16_t>(96, 72)), right(Image<std::uint16_t>(96, 72));
  left.bit_depth = right.bit_depth = 10;
  for (AnyImage* image : {&left, &right})
    for (int y = 0; y < 72; ++y) std::fill_n(std::get<Image<std::uint16_t>>(image->pixels).row(y), 96, 500);
  auto& pixels = std::get<Image<std::uint16_t>>(left.pixels);
  pixels(8, 9) = 1023;
  EXPECT_EQ(rejection_of({left, right, {}, {}}), "accepted");
  pixels(8, 9) = 1024;
  EXPECT_NE(rejection_of({left, right, {}, {}}).find("is 1024 at 8,9"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::confidence_test
