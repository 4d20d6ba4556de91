// Seeds from the points of another sensor, and from the frame before.
#include "stereopsis/seeds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "geometry/rotations.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::seed_points_test {
namespace {

constexpr Size size{240, 160};
const Rig rig{.focal = 300, .cx_left = 120, .cx_right = 120, .cy = 80, .baseline = 0.1, .unit = "m", .size = size};

Scene scene() { return make_scene({.scene = "table", .size = size, .disparities = 48, .seed = 3}); }

// Returns the points that the right camera sees at every third pixel, in its own frame.
std::vector<std::array<float, 3>> points_of_right(const Scene& scene) {
  std::vector<std::array<float, 3>> points;
  for (int y = 0; y < size.height; y += 3)
    for (int x = 0; x < size.width; x += 3) {
      const double z = rig.depth(scene.disparity_right(x, y));
      points.push_back({static_cast<float>((x - rig.cx_right) / rig.focal * z),
                        static_cast<float>((y - rig.cy) / rig.focal * z), static_cast<float>(z)});
    }
  return points;
}

struct Counts {
  int seeds = 0, wrong = 0;  // wrong: off by more than 1 pixel
};

Counts compared(const Image<float>& seeds, const Image<float>& truth) {
  Counts counts;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      if (std::isnan(seeds(x, y))) continue;
      ++counts.seeds;
      if (!(std::abs(seeds(x, y) - truth(x, y)) <= 1)) ++counts.wrong;
    }
  return counts;
}

// The right camera sees surfaces that are hidden from the left one: their points would be seeds on what hides them.
TEST(SeedsOfPoints, OfSurfacesThatTheCameraSees) {
  const Scene scene = seed_points_test::scene();
  const std::vector<std::array<float, 3>> points = points_of_right(scene);
  const Image<float> seeds = seeds_of_points(points, {no_rotation, {rig.baseline, 0, 0}}, rig, size);
  const auto [count, wrong] = compared(seeds, scene.disparity_left);
  EXPECT_GT(count, 0.75 * static_cast<double>(points.size()));
  EXPECT_LT(wrong, 0.02 * count);
}

TEST(SeedsOfPoints, AtTheNearestPixelWithTheNearestPoint) {
  const std::vector<std::array<float, 3>> points = {{0, 0, 3}, {0.001F, 0, 2}, {0, 0, -2}, {NAN, 0, 1}, {100, 0, 1}};
  const Image<float> seeds = seeds_of_points(points, {}, rig, size);
  EXPECT_FLOAT_EQ(seeds(120, 80), 15);
  EXPECT_EQ(compared(seeds, seeds).seeds, 1);
}

TEST(SeedsOfPoints, RefuseWhatIsNoPoseAndNoRig) {
  const std::vector<std::array<float, 3>> points = {{0, 0, 3}};
  const auto sentence = [&](const Pose& pose, const Rig& of) -> std::string {
    try {
      seeds_of_points(points, pose, of, size);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(sentence({{2, 0, 0, 0, 2, 0, 0, 0, 2}, {}}, rig).find("is no rotation"), std::string::npos);
  EXPECT_NE(sentence({}, Rig{}).find("baseline 0"), std::string::npos);
}

// A camera that moves by the baseline sees what the right camera saw.
TEST(MovedDisparities, FollowTheCamera) {
  const Scene scene = seed_points_test::scene();
  Image<float> before(scene.disparity_left.view());
  for (int x = 0; x < size.width; ++x) before(x, 5) = invalid_disparity;
  const Image<float> moved = moved_disparities(before, rig, {no_rotation, {-rig.baseline, 0, 0}});
  const auto [count, wrong] = compared(moved, scene.disparity_right);
  EXPECT_GT(count, 0.7 * size.width * size.height);
  EXPECT_LT(wrong, 0.02 * count);
  for (int x = 0; x < size.width; ++x) EXPECT_TRUE(std::isnan(moved(x, 5)));
}

TEST(SeedsOfPoints, NeedTheLengthOfTheBaseline) {
  Rig without_scale = rig;
  without_scale.unit = no_scale;
  EXPECT_THROW(seeds_of_points({}, {}, without_scale, size), Error);
}

TEST(MovedDisparities, FollowTheFlow) {
  const Image<float> disparity({4, 3}, 1, 5);
  Image<float> flow({4, 3}, 2, NAN);
  flow(0, 0, 0) = 1.6F, flow(0, 0, 1) = 1;
  const Image<float> moved = moved_disparities(disparity, flow);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) EXPECT_EQ(std::isnan(moved(x, y)), !(x == 2 && y == 1)) << x << " " << y;
  EXPECT_THROW(moved_disparities(disparity, Image<float>({4, 3}, 1, 0).view()), Error);
}

}  // namespace
}  // namespace stereopsis::seed_points_test
