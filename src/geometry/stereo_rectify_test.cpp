// Tests the computed rectification: rows correspond, every pixel has a source, and impossible cameras are rejected.
#include "geometry/stereo_rectify.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "geometry/lens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::stereo_rectify_test {
namespace {

RawPair raw_pair(Lens::Model model = Lens::Model::polynomial) {
  RawPair pair;
  pair.size = {640, 480};
  pair.left = {.fx = 500, .fy = 502, .cx = 318, .cy = 244, .model = model, .distortion = {}};
  pair.right = {.fx = 498, .fy = 499, .cx = 331, .cy = 236, .model = model, .distortion = {}};
  if (model == Lens::Model::fisheye)
    pair.left.distortion = {0.02, -0.01, 0.003, -0.001}, pair.right.distortion = {0.01, 0.004, -0.002, 0.0005};
  else
    pair.left.distortion = {-0.25, 0.07, 0.001, -0.0005, -0.01}, pair.right.distortion = {-0.27, 0.09, -0.0004, 0.0007};
  pair.right_from_left = {rotation_by({0.01, -0.03, 0.02}), {-0.12, 0.004, 0.003}};
  pair.unit = "m";
  return pair;
}

// Returns the pixel of a rectified image at which a point, given in the left camera's frame, is visible.
std::array<double, 2> seen(const StereoCalibration& c, bool left, const Vector3& point) {
  const Pose pose = left ? Pose{} : Pose{c.rotation, c.translation};
  Vector3 p = turned(pose.rotation, point);
  for (std::size_t i = 0; i < 3; ++i) p[i] += pose.translation[i];
  const Vector3 r = turned(left ? c.left.rectification : c.right.rectification, p);
  return {c.rig.focal * r[0] / r[2] + (left ? c.rig.cx_left : c.rig.cx_right), c.rig.focal * r[1] / r[2] + c.rig.cy};
}

TEST(StereoRectify, RowsCorrespondAndDisparitiesGiveTheDepth) {
  for (const auto model : {Lens::Model::polynomial, Lens::Model::fisheye}) {
    const StereoCalibration c = stereo_rectified(raw_pair(model));
    EXPECT_NEAR(c.rig.baseline, std::sqrt(0.12 * 0.12 + 0.004 * 0.004 + 0.003 * 0.003), 1e-12);
    EXPECT_EQ(c.rig.unit, "m");
    EXPECT_EQ(c.rig.size, (Size{640, 480}));
    EXPECT_EQ(c.rig.cx_left, c.rig.cx_right);
    for (const Vector3& point : {Vector3{0, 0, 1}, Vector3{0.4, -0.3, 1.5}, Vector3{-2, 1, 6}}) {
      const auto left = seen(c, true, point), right = seen(c, false, point);
      EXPECT_NEAR(left[1], right[1], 1e-9);
      EXPECT_NEAR(c.rig.depth(left[0] - right[0]), turned(c.left.rectification, point)[2], 1e-9);
    }
  }
}

TEST(StereoRectify, NearlyEveryPixelHasASource) {
  for (const auto model : {Lens::Model::polynomial, Lens::Model::fisheye}) {
    const StereoCalibration c = stereo_rectified(raw_pair(model));
    const RectificationMaps maps = rectification_maps(c);
    for (const auto* map : {&maps.left, &maps.right}) {
      long long inside = 0;
      for (int y = 0; y < 480; ++y)
        for (int x = 0; x < 640; ++x)
          inside += (*map)(x, y, 0) >= 0 && (*map)(x, y, 1) >= 0 && (*map)(x, y, 0) <= 639 * 256 &&
                    (*map)(x, y, 1) <= 479 * 256;
      EXPECT_GT(inside, 640 * 480 * 0.999);
    }
    EXPECT_GT(c.rig.focal, 300);  // no more of the view is cropped than necessary
    EXPECT_LT(c.rig.focal, 600);
  }
}

// A fisheye lens that sees a half space has no largest rectangle, so the focal length is bounded.
TEST(StereoRectify, AVeryWideLensKeepsAThirdOfItsFocalLength) {
  RawPair pair = raw_pair(Lens::Model::fisheye);
  pair.left =
      pair.right = {.fx = 140, .fy = 140, .cx = 319.5, .cy = 239.5, .model = Lens::Model::fisheye, .distortion = {}};
  pair.right_from_left = {no_rotation, {-0.12, 0, 0}};
  EXPECT_NEAR(stereo_rectified(pair).rig.focal, 140.0 / 3, 1e-9);
}

TEST(StereoRectify, CamerasThatAreRectifiedDoNotMove) {
  RawPair pair = raw_pair();
  pair.left = pair.right = {.fx = 500, .fy = 500, .cx = 319.5, .cy = 239.5, .distortion = {}};
  pair.right_from_left = {no_rotation, {-0.2, 0, 0}};
  EXPECT_LT(largest_shift(stereo_rectified(pair)), 1e-6);
  pair.right_from_left.rotation = rotation_by({0, 0, 0.01});
  EXPECT_GT(largest_shift(stereo_rectified(pair)), 1);
}

TEST(StereoRectify, CamerasThatAreNotSideBySideAreRefused) {
  const auto refusal = [](const Pose& pose) {
    RawPair pair = raw_pair();
    pair.right_from_left = pose;
    try {
      stereo_rectified(pair);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("(accepted)");
  };
  EXPECT_NE(refusal({no_rotation, {0.12, 0, 0}}).find("swap"), std::string::npos);
  EXPECT_NE(refusal({no_rotation, {-0.01, 0.12, 0}}).find("side by side"), std::string::npos);
  EXPECT_NE(refusal({no_rotation, {-0.01, 0, 0.12}}).find("side by side"), std::string::npos);
  EXPECT_NE(refusal({no_rotation, {0, 0, 0}}).find("same place"), std::string::npos);
  EXPECT_NE(refusal({rotation_by({0, 2, 0}), {-0.12, 0, 0}}).find("turned"), std::string::npos);
}

TEST(Lenses, RaysInvertProjections) {
  for (const auto model : {Lens::Model::polynomial, Lens::Model::fisheye}) {
    const Lens lens = raw_pair(model).left;
    for (const auto& [x, y] : {std::pair{318.0, 244.0}, {0.0, 0.0}, {639.0, 479.0}, {100.5, 300.25}}) {
      const auto [px, py] = lens.project(InverseLens(lens)(x, y));
      EXPECT_NEAR(px, x, 1e-6);
      EXPECT_NEAR(py, y, 1e-6);
    }
  }
}

TEST(Rotations, AxesQuaternionsAndPosesInvert) {
  const Vector3 v = {0.3, -0.2, 0.5};
  const Vector3 back = axis_and_angle_of(rotation_by(v));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(back[i], v[i], 1e-12);
  const double angle = length(v), s = std::sin(angle / 2) / angle;
  const Matrix3 a = rotation_by(v),
                b = rotation_of_quaternion(2 * std::cos(angle / 2), 2 * s * v[0], 2 * s * v[1], 2 * s * v[2]);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
  const Pose pose{a, {1, 2, 3}}, none = after(pose.inverse(), pose);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(none.translation[i], 0, 1e-12);
}

}  // namespace
}  // namespace stereopsis::stereo_rectify_test
