// The pose of unknown cameras from points, many of which are wrong.
#include "geometry/unknown_pose.hpp"

#include <gtest/gtest.h>

#include "stereopsis/rig_refinement.hpp"
#include "support/seen_points.hpp"

namespace stereopsis::unknown_pose_test {
namespace {

using namespace epipolar;

constexpr Size size = {640, 480};

StereoCalibration plain_cameras() {
  return cameras_of(
      {.focal = 500, .cx_left = 319.5, .cx_right = 319.5, .cy = 239.5, .baseline = 1, .unit = no_scale, .size = size});
}

Vector3 in_degrees(const Vector3& v) { return {v[0] / degree, v[1] / degree, v[2] / degree}; }

// Returns what cameras at such a place see, where a share of the points is elsewhere in the right image.
std::vector<Point> seen_from(const Matrix3& rotation, const Vector3& centre, double wrong) {
  Cameras cameras(plain_cameras());
  cameras.place(rotation, centre);
  return test::seen_points(cameras, {size, 500, wrong, 0, 3});
}

TEST(UnknownPose, IsFoundAmongWrongPoints) {
  for (const Vector3& turn : {Vector3{0, 0, 0}, Vector3{5, -12, 4}, Vector3{-8, 9, -10}}) {
    const Vector3 centre = {0.96, 0.2, -0.2};
    const Matrix3 rotation = rotation_by({turn[0] * degree, turn[1] * degree, turn[2] * degree});
    Cameras cameras(plain_cameras());
    place(cameras, seen_from(rotation, centre, 0.4));
    const Vector3 apart = in_degrees(axis_and_angle_of(product(cameras.rotation, transposed(rotation))));
    EXPECT_LT(length(apart), 0.5) << turn[0];
    EXPECT_NEAR(cameras.centre[0], centre[0], 0.03);
    EXPECT_NEAR(cameras.centre[1], centre[1], 0.05);
    EXPECT_NEAR(cameras.centre[2], centre[2], 0.05);
    EXPECT_FALSE(epipole(cameras, size));
  }
}

TEST(UnknownPose, TellsTheSideOfTheSecondCamera) {
  Cameras cameras(plain_cameras());
  place(cameras, seen_from(no_rotation, {-1, 0, 0}, 0.2));
  EXPECT_NEAR(cameras.centre[0], -1, 0.03);
}

TEST(UnknownPose, FindsTheEpipoleOfForwardMotion) {
  Cameras cameras(plain_cameras());
  place(cameras, seen_from(no_rotation, {0.1, 0.05, 1}, 0.2));
  const auto at = epipole(cameras, size);
  ASSERT_TRUE(at);
  EXPECT_NEAR((*at)[0], 319.5 + 50, 5);
  EXPECT_NEAR((*at)[1], 239.5 + 25, 5);
}

}  // namespace
}  // namespace stereopsis::unknown_pose_test
