// Tests calibrations in a matcher, on every device: the result equals that of separate rectification, matching and
// triangulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "stereopsis/triangulation.hpp"
#include "support/devices.hpp"
#include "support/rigs.hpp"

namespace stereopsis::matching_test {
namespace {

using namespace test;

constexpr Size size{96, 64};
constexpr DisparityRange range{-2, 27};

std::vector<Device> all_devices() {
  std::vector<Device> devices = {{"cpu", 1}, {"cpu", 3}};
  for (gpu::Device* device : gpu::usable_devices()) devices.push_back({device->name(), 0});
  return devices;
}

Problem problem_of(const StereoPair& pair, const StereoCalibration& calibration) {
  Problem problem = Problem::of(pair, range);
  problem.want_right = problem.want_confidence = true;
  problem.geometry = {.rectification = std::make_shared<const RectificationMaps>(rectification_maps(calibration)),
                      .want_rectified = true,
                      .rig = calibration.rig,
                      .want_depth = true,
                      .want_points = true,
                      .want_uncertainty = true,
                      .frame = Frame::head,
                      .disparity_error = 0.5};
  return problem;
}

// Computes the same result from single stages on the CPU.
Matched composed(const StereoPair& pair, const Problem& problem) {
  const Geometry& g = problem.geometry;
  const RectifiedView left = rectified(pair.left, g.rectification->left, pair.mask_left);
  const RectifiedView right = rectified(pair.right, g.rectification->right, pair.mask_right);
  const StereoPair rectified_pair{left.image, right.image, left.usable, right.usable};
  Problem plain = Problem::of(rectified_pair, problem.range);
  plain.region = problem.region;
  plain.want_right = plain.want_confidence = true;
  Matched result = Matcher(Plan(Pipeline("sgm"), plain, {"cpu", 1})).match(rectified_pair);
  const auto validity = g.fill_depth ? ImageView<const std::uint8_t>() : result.validity.view();
  Triangulated metric = triangulated(result.disparity, *g.rig, g.frame, g.disparity_error, 1, validity);
  result.depth = std::move(metric.depth);
  result.points = std::move(metric.points);
  result.uncertainty = std::move(metric.uncertainty);
  result.rectified = left.image;
  return result;
}

void expect_same(const Matched& got, const Matched& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
  EXPECT_TRUE(same_bits(got.right.view(), expected.right.view()));
  EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence.view()));
  EXPECT_TRUE(same_bits(got.depth.view(), expected.depth.view()));
  EXPECT_TRUE(same_bits(got.points.view(), expected.points.view()));
  EXPECT_TRUE(same_bits(got.uncertainty.view(), expected.uncertainty.view()));
}

template <class T>
Image<T> converted(const Image<std::uint8_t>& image, int factor) {
  Image<T> out(image.size(), image.channels());
  for (int y = 0; y < image.height(); ++y)
    for (int i = 0; i < image.width() * image.channels(); ++i) out.row(y)[i] = static_cast<T>(image.row(y)[i] * factor);
  return out;
}

TEST(MatchingRawPairs, IsRectificationMatchingAndTriangulation) {
  const Scene scene = make_scene({.size = size, .disparities = 24, .noise = 2});
  const auto left16 = converted<std::uint16_t>(scene.left, 16), right16 = converted<std::uint16_t>(scene.right, 16);
  const auto left32 = converted<float>(scene.left, 1), right32 = converted<float>(scene.right, 1);
  Image<std::uint8_t> mask(size, 1, 255);
  for (int y = 20; y < 30; ++y) mask(40, y) = 0;
  const StereoCalibration calibration = calibration_for(size);
  for (const StereoPair& pair :
       {StereoPair{scene.left, scene.right, {}, {}}, StereoPair{scene.left, scene.right, mask, {}},
        StereoPair{AnyImageView(left16, 12), AnyImageView(right16, 12), {}, mask},
        StereoPair{left32, right32, {}, {}}}) {
    const Problem problem = problem_of(pair, calibration);
    ASSERT_FALSE(problem.geometry.rectification->left_complete);
    const Matched expected = composed(pair, problem);
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(device.name + ", " + to_string(pair.left.type));
      Matcher matcher(Plan(Pipeline("sgm"), problem, device));
      EXPECT_EQ(matcher.plan().output_size(), calibration.rig.size);
      Matched got;
      for (int run = 0; run < 3; ++run) {  // on a GPU, the second run records and the third run replays
        matcher.match(pair, got);
        expect_same(got, expected);
        with_pixels(got.rectified.view(), [&]<class T>(ImageView<const T> pixels) {
          EXPECT_TRUE(same_bits(pixels, expected.rectified.view().as<T>()));
        });
      }
      const auto has = [&](const char* name) {
        return std::any_of(got.times.begin(), got.times.end(), [&](const StageTime& t) { return t.name == name; });
      };
      // Times are not requested, and a GPU does not return them.
      EXPECT_EQ(device.name == "cpu", has("rectification") && has("depth and points"));
    }
  }
}

TEST(MatchingRawPairs, WhereEveryPixelHasASourceNothingIsMasked) {
  const Scene scene = make_scene({.size = size, .disparities = 24, .noise = 2});
  StereoCalibration calibration = calibration_for(size);
  calibration.rig.focal *= 1.6;
  Image<std::uint8_t> mask(size, 1, 255);
  for (int y = 20; y < 30; ++y) mask(40, y) = 0;
  for (const StereoPair& pair :
       {StereoPair{scene.left, scene.right, {}, {}}, StereoPair{scene.left, scene.right, {}, mask}}) {
    const Problem problem = problem_of(pair, calibration);
    ASSERT_TRUE(problem.geometry.rectification->left_complete && problem.geometry.rectification->right_complete);
    const Matched expected = composed(pair, problem);
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(device.name);
      expect_same(Matcher(Plan(Pipeline("sgm"), problem, device)).match(pair), expected);
    }
  }
}

TEST(MatchingRawPairs, RegionsAreOfTheRectifiedImages) {
  const Scene scene = make_scene({.size = size, .disparities = 24, .noise = 2});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  const StereoCalibration calibration = calibration_for(size);
  Problem problem = problem_of(pair, calibration);
  problem.region = Rect{60, 20, 39, 30};  // up to the last column, which is beyond the last column of the raw images
  Pipeline pipeline("sgm");
  pipeline.set("region.margin", "5");
  const auto parts = [&](const Device& device) { return Matcher(Plan(pipeline, problem, device)).match(pair); };
  const Matched expected = parts({"cpu", 1});
  for (const Device& device : all_devices()) expect_same(parts(device), expected);

  const Triangulated metric = triangulated(expected.disparity, calibration.rig, Frame::head, 0.5, 1, expected.validity);
  EXPECT_TRUE(same_bits(expected.points.view(), metric.points.view()));
  const RectifiedView left = rectified(pair.left, problem.geometry.rectification->left);
  const auto got = expected.rectified.view().as<std::uint8_t>();
  for (int y = 0; y < got.height; ++y)
    for (int x = 0; x < got.width; ++x) {
      const bool inside = x >= 60 && y >= 20 && y < 50;
      EXPECT_EQ(got(x, y, 1), inside ? left.image.view().as<std::uint8_t>()(x, y, 1) : 0);
      EXPECT_EQ((expected.validity(x, y) & validity::outside) != 0, !inside);
    }
}

TEST(MatchingRawPairs, PixelsWithoutSourceAreMasked) {
  const Scene scene = make_scene({.size = size, .disparities = 24});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  StereoCalibration calibration = calibration_for(size);
  calibration.rig.cx_left -= 10;  // the rectified image begins outside the raw image
  const Problem problem = problem_of(pair, calibration);
  const Matched result = Matcher(Plan(Pipeline("sgm"), problem, {"cpu", 1})).match(pair);
  const RectifiedView left = rectified(pair.left, problem.geometry.rectification->left);
  int without = 0;
  for (int y = 0; y < result.disparity.height(); ++y)
    for (int x = 0; x < result.disparity.width(); ++x) {
      if (left.usable(x, y) != 0) continue;
      ++without;
      EXPECT_TRUE(std::isnan(result.disparity(x, y)) && std::isnan(result.depth(x, y)) &&
                  std::isnan(result.points(x, y, 0)));
      EXPECT_NE(result.validity(x, y) & validity::masked, 0);
    }
  EXPECT_GT(without, 300);
}

TEST(MatchingRawPairs, FilledPixelsHaveDepthOnlyOnRequest) {
  const Scene scene = make_scene({.size = size, .disparities = 24, .noise = 2});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  Problem problem = problem_of(pair, calibration_for(size));
  for (const bool fill_depth : {false, true}) {
    problem.geometry.fill_depth = fill_depth;
    const Matched expected = composed(pair, problem);
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(device.name);
      const Matched got = Matcher(Plan(Pipeline("sgm"), problem, device)).match(pair);
      expect_same(got, expected);
      int filled = 0;
      for (int y = 0; y < got.depth.height(); ++y)
        for (int x = 0; x < got.depth.width(); ++x) {
          if ((got.validity(x, y) & (validity::filled | validity::repaired)) == 0) continue;
          ++filled;
          ASSERT_FALSE(std::isnan(got.disparity(x, y)));  // disparity maps are dense
          ASSERT_TRUE(fill_depth || (std::isnan(got.depth(x, y)) && std::isnan(got.points(x, y, 1)) &&
                                     std::isnan(got.uncertainty(x, y))));
        }
      EXPECT_GT(filled, 100);
    }
  }
}

TEST(MatchingRawPairs, WhatDoesNotFitIsRefused) {
  const Scene scene = make_scene({.size = size, .disparities = 24});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  Problem other = problem_of(pair, calibration_for({128, 64}));
  EXPECT_THROW(Plan(Pipeline("sgm"), other, {"cpu", 1}), Error);
  Problem no_rig = problem_of(pair, calibration_for(size));
  no_rig.geometry.rig.reset();
  EXPECT_THROW(Plan(Pipeline("sgm"), no_rig, {"cpu", 1}), Error);
  Problem no_maps = problem_of(pair, calibration_for(size));
  no_maps.geometry.rectification.reset();
  EXPECT_THROW(Plan(Pipeline("sgm"), no_maps, {"cpu", 1}), Error);
}

// An aperiodic texture on an infinite plane: smooth noise of two scales.
double noise(double u, double v) {
  const auto at = [](int i, int j) {
    std::uint32_t h = static_cast<std::uint32_t>(i) * 0x9E3779B1u ^ static_cast<std::uint32_t>(j) * 0x85EBCA77u;
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return static_cast<double>((h ^ (h >> 15)) & 0xFFFF) / 65535;
  };
  const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
  const auto eased = [](double t) { return t * t * (3 - 2 * t); };
  const double a = eased(u - i), b = eased(v - j);
  return (1 - b) * ((1 - a) * at(i, j) + a * at(i + 1, j)) + b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1));
}

// The maps of a pair replace those of the plan, for this pair alone.
TEST(MatchingRawPairs, APairHasMapsOfItsOwn) {
  const Scene scene = make_scene({.size = size, .disparities = 24, .noise = 2});
  const StereoCalibration first = calibration_for(size);
  StereoPair pair{scene.left, scene.right};
  const Problem planned = problem_of(pair, first), moved = problem_of(pair, turned(first, {0.5, -0.3, 0.7}));
  const Matched before = composed(pair, planned), after = composed(pair, moved);
  ASSERT_FALSE(same_bits(before.disparity.view(), after.disparity.view()));
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.name);
    Matcher matcher(Plan(Pipeline("sgm"), planned, device));
    for (const bool is_moved : {false, true, true, false}) {
      pair.rectification = is_moved ? moved.geometry.rectification : nullptr;
      expect_same(matcher.match(pair), is_moved ? after : before);
    }
  }
  pair.rectification = std::make_shared<const RectificationMaps>(rectification_maps(calibration_for({90, 64})));
  Matcher matcher(Plan(Pipeline("sgm"), planned, {"cpu", 1}));
  EXPECT_THROW(matcher.match(pair), Error);
  pair.rectification = moved.geometry.rectification;
  Matcher unrectified(Plan(Pipeline("sgm"), Problem::of(pair, range), {"cpu", 1}));
  EXPECT_THROW(unrectified.match(pair), Error);
}

// The textured plane n·X = c in the rectified left frame. The centre of the camera is at `x` on the baseline.
struct Plane {
  Vector3 n;
  double c, texel;

  double along(const Vector3& ray, double x) const {
    return (c - n[0] * x) / (n[0] * ray[0] + n[1] * ray[1] + n[2] * ray[2]);
  }
  double colour(const Vector3& ray, double x) const {
    const double t = along(ray, x), px = x + t * ray[0], py = t * ray[1];
    return 255 * (0.65 * noise(px / texel, py / texel) + 0.35 * noise(px / (4 * texel) + 50, py / (4 * texel)));
  }
};

// Two distorted cameras see planes, and the images are rectified, matched and triangulated.
TEST(RoundTrip, PlanesComeBackWithinTheDisparitysUncertainty) {
  const StereoCalibration calibration = calibration_for({320, 240});
  for (const Plane& plane : {Plane{{0, 0, 1}, 900, 10}, Plane{{0.35, 0, 1}, 1000, 10}, Plane{{-0.2, 0.3, 1}, 800, 8}}) {
    const auto left =
        seen_by(calibration.left, calibration.size, [&](const Vector3& ray) { return plane.colour(ray, 0); });
    const auto right = seen_by(calibration.right, calibration.size,
                               [&](const Vector3& ray) { return plane.colour(ray, calibration.rig.baseline); });
    const StereoPair pair{left, right, {}, {}};
    Problem problem = problem_of(pair, calibration);
    problem.range = calibration.rig.range(400, 3000);
    problem.geometry.frame = Frame::optical;
    const Matched result = Matcher(Plan(Pipeline("sgm"), problem, {"cpu", 0})).match(pair);
    const Triangulated head = triangulated(result.disparity, calibration.rig, Frame::head);
    int measured = 0, within = 0;
    double bias = 0;
    for (int y = 0; y < result.depth.height(); ++y)
      for (int x = 0; x < result.depth.width(); ++x) {
        if (result.validity(x, y) != 0) continue;
        ++measured;
        const double z = result.points(x, y, 2);
        const Vector3 ray{result.points(x, y, 0) / z, result.points(x, y, 1) / z, 1};
        const double error = z - plane.along(ray, 0);
        within += std::abs(error) <= result.uncertainty(x, y);
        bias += error / result.uncertainty(x, y);
        EXPECT_EQ(head.points(x, y, 0), result.points(x, y, 2));
        EXPECT_EQ(head.points(x, y, 1), static_cast<float>(calibration.rig.baseline / 2) - result.points(x, y, 0));
        EXPECT_EQ(head.points(x, y, 2), -result.points(x, y, 1));
      }
    EXPECT_GT(measured, 60000);
    EXPECT_GT(within, 0.97 * measured) << within << " of " << measured;
    // The mean error is far smaller, except for a plane that faces the cameras. The single disparity of this plane has
    // a single error of the sub-pixel interpolation, while the errors of other planes average out.
    EXPECT_LT(std::abs(bias / measured), plane.n[0] == 0 ? 0.5 : 0.05);
  }
}

}  // namespace
}  // namespace stereopsis::matching_test
