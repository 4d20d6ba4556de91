// Tests obstacles on a plane, whose distances and heights are known.
#include "stereopsis/obstacles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"

namespace stereopsis::obstacles_test {
namespace {

const Rig rig{
    .focal = 400, .cx_left = 160, .cx_right = 160, .cy = 100, .baseline = 0.2, .unit = "m", .size = {320, 240}};

// A wall across the view at depth `z`, from the ground up to `height`, in the columns [left, right).
struct Box {
  double z, height;
  int left, right;
};

// The view of a camera at a height of 1.5 m that looks down by `pitch` and is turned by `roll`, with an error of the
// disparity that alternates between pixels.
Image<float> street(const std::vector<Box>& boxes, double pitch = 0.05, double roll = 0, double error = 0.2) {
  const Vector3 up{std::sin(roll), -std::cos(pitch) * std::cos(roll), -std::sin(pitch)};
  Image<float> depth(rig.size);
  for (int y = 0; y < rig.size.height; ++y)
    for (int x = 0; x < rig.size.width; ++x) {
      const Vector3 ray{(x - rig.cx_left) / rig.focal, (y - rig.cy) / rig.focal, 1};
      const double slope = up[0] * ray[0] + up[1] * ray[1] + up[2] * ray[2];
      double z = slope < 0 ? -1.5 / slope : HUGE_VAL;
      for (const Box& box : boxes)
        if (x >= box.left && x < box.right && box.z < z && 1.5 + box.z * slope <= box.height) z = box.z;
      const double disparity = rig.focal * rig.baseline / z + ((x + y) % 2 == 0 ? error : -error);
      depth(x, y) = disparity > 1 ? static_cast<float>(rig.focal * rig.baseline / disparity)
                                  : std::numeric_limits<float>::quiet_NaN();
    }
  return depth;
}

// Says whether f throws an error of the call that contains `part`.
template <class F>
testing::AssertionResult refuses(const F& f, const std::string& part) try {
  f();
  return testing::AssertionFailure() << "nothing was thrown";
} catch (const Error& error) {
  if (error.category() == ErrorCategory::call && std::string(error.what()).find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << error.what();
}

TEST(Obstacles, TheGroundIsFitted) {
  for (const double roll : {-0.1, 0.0, 0.2}) {
    const auto ground = fit_ground(street({{6, 1.8, 100, 140}}, 0.08, roll), rig);
    ASSERT_TRUE(ground);
    EXPECT_NEAR(ground->camera_height, 1.5, 0.02);
    EXPECT_NEAR(ground->up[0], std::sin(roll), 0.01);
    EXPECT_NEAR(ground->up[2], -std::sin(0.08), 0.01);
    EXPECT_GT(ground->share, 0.5);
    EXPECT_EQ(ground->doubt, "");
  }
}

TEST(Obstacles, TheNearestComesFirst) {
  const Image<float> depth = street({{8, 1.2, 200, 240}, {5, 0.9, 60, 100}, {20, 2, 110, 180}, {6, 0.15, 250, 300}});
  const Obstacles found = find_obstacles(depth, rig);
  ASSERT_EQ(found.list.size(), 2u);                      // the third is farther than 10 m, the fourth lower than 0.3 m
  EXPECT_NEAR(found.list[0].distance, 80 / 16.2, 1e-3);  // half of the pixels are 0.2 px nearer
  EXPECT_NEAR(found.list[0].height, 0.9, 0.05);
  EXPECT_NEAR(found.list[0].area, 0.5 * 0.6, 0.08);  // 40 pixels are 0.5 m wide, and the lowest 0.3 m do not count
  EXPECT_EQ(found.list[0].box.x, 60);
  EXPECT_EQ(found.list[0].box.width, 40);
  EXPECT_NEAR(found.list[0].point[0], (80 - 160) / 400.0 * 5, 0.3);
  EXPECT_NEAR(found.list[1].distance, 80 / 10.2, 1e-3);
  const int x = found.list[1].box.x + 10, y = found.list[1].box.y + 5;
  EXPECT_EQ(found.labels(x, y), 2);
  EXPECT_NEAR(found.height(10, 230), 0, 0.03);
}

TEST(Obstacles, UnsurePixelsAreNoObstacles) {
  const Image<float> depth = street({{5, 0.9, 60, 100}});
  Image<float> confidence(rig.size, 1, 0.9F);
  EXPECT_EQ(find_obstacles(depth, rig, {}, confidence).list.size(), 1u);
  for (int y = 0; y < rig.size.height; ++y)
    for (int x = 60; x < 100; ++x) confidence(x, y) = 0.2F;
  EXPECT_TRUE(find_obstacles(depth, rig, {}, confidence).list.empty());
  const Obstacles all = find_obstacles(depth, rig, {.min_confidence = 0.1}, confidence);
  ASSERT_EQ(all.list.size(), 1u);
  EXPECT_NEAR(all.list[0].confidence, 0.2, 1e-6);
}

TEST(Obstacles, AGivenGroundIsUsedAsItIs) {
  ObstacleOptions options;
  options.ground = Ground{.up = {0, -std::cos(0.05), -std::sin(0.05)}, .camera_height = 1.5};
  const Obstacles found = find_obstacles(street({{5, 0.9, 60, 100}}), rig, options);
  ASSERT_EQ(found.list.size(), 1u);
  EXPECT_NEAR(found.list[0].height, 0.9, 0.03);
}

TEST(Obstacles, AWallIsNoGroundAndATableIsDoubtful) {
  Image<float> wall(rig.size, 1, 3.0F);
  EXPECT_FALSE(fit_ground(wall, rig));
  EXPECT_TRUE(refuses([&] { find_obstacles(wall, rig); }, "no ground was found"));
  Image<float> table = street({}, 0.3), floor = table;
  for (int y = 0; y < rig.size.height; ++y)
    for (int x = 0; x < rig.size.width; ++x) {
      floor(x, y) *= 1.6F;  // the floor is lower than the table, beside which it is seen
      if (x < 100) table(x, y) = floor(x, y);
    }
  const auto ground = fit_ground(table, rig);
  ASSERT_TRUE(ground);
  EXPECT_NEAR(ground->camera_height, 1.5, 0.05);
  EXPECT_NE(ground->doubt.find("below the plane"), std::string::npos);
}

TEST(Obstacles, MillimetresGiveTheSame) {
  Image<float> depth = street({{5, 0.9, 60, 100}});
  for (int y = 0; y < rig.size.height; ++y)
    for (int x = 0; x < rig.size.width; ++x) depth(x, y) *= 1000;
  Rig small = rig;
  small.baseline = 200;
  small.unit = "mm";
  const Obstacles found = find_obstacles(depth, small, obstacle_options(small));
  ASSERT_EQ(found.list.size(), 1u);
  EXPECT_NEAR(found.list[0].distance, 80000 / 16.2, 1);
  EXPECT_NEAR(found.ground.camera_height, 1500, 20);
}

TEST(Obstacles, WhatIsNotAllowedIsNamed) {
  const Image<float> depth = street({});
  const auto expect = [&](const ObstacleOptions& options, const char* part) {
    EXPECT_TRUE(refuses([&] { find_obstacles(depth, rig, options); }, part));
  };
  expect({.nearer_than = 0}, "nearer_than is 0");
  expect({.lowest = 3}, "highest is 3; it must be above lowest");
  expect({.min_confidence = 2}, "min_confidence is 2");
  ObstacleOptions wrong;
  wrong.ground = Ground{.up = {0, -2, 0}, .camera_height = 1};
  expect(wrong, "normal is 2; it must be 1");
  EXPECT_TRUE(refuses([&] { find_obstacles(depth, rig, {}, Image<float>(5, 4)); }, "5×4"));
  EXPECT_TRUE(refuses([&] { find_obstacles(Image<float>(5, 4), rig); }, "320×240"));
}

}  // namespace
}  // namespace stereopsis::obstacles_test
