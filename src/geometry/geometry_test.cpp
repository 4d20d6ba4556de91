#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stereopsis/error.hpp"
#include "stereopsis/length.hpp"
#include "stereopsis/rig.hpp"
#include "stereopsis/triangulation.hpp"
#include "support/rigs.hpp"

namespace stereopsis::geometry_test {
namespace {

using namespace test;

Rig some_rig() {
  Rig rig;
  rig.focal = 700;
  rig.cx_left = 610.5;
  rig.cx_right = 598.25;
  rig.cy = 180;
  rig.baseline = 0.54;
  return rig;
}

TEST(Length, HasAUnit) {
  EXPECT_EQ(parse_length("120mm").in("mm"), 120);
  EXPECT_EQ(parse_length("120 mm").in("m"), 0.12);
  EXPECT_EQ(parse_length("12cm").in("m"), 0.12);
  EXPECT_EQ(parse_length("0.12m").in("mm"), 120);
  EXPECT_NEAR(parse_length("4in").in("mm"), 101.6, 1e-9);
  EXPECT_EQ(parse_length("0.12").in("m"), 0.12);
  EXPECT_EQ(parse_length("0.12").in(""), 0.12);
  EXPECT_EQ(parse_length("1.2e-1m").in("m"), 0.12);
  EXPECT_EQ(parse_length("12cm").as_of_rig().text(), "120mm");
  EXPECT_EQ(parse_length("0.12m").as_of_rig().text(), "0.12m");
  EXPECT_EQ(parse_length("3").as_of_rig().text(), "3");
  EXPECT_THROW(parse_length("1m").in(""), Error);
  for (const char* wrong : {"", "m", "mm", "1 yd", "-1m", "1M", "nan", "inf", "1e999m", "1,5m", "0x1m", "1mm2", " m"})
    EXPECT_THROW(parse_length(wrong), Error) << wrong;
}

TEST(Rig, DepthBecomesDisparityAgain) {
  const Rig rig = some_rig();
  Image<float> depth(3, 1);
  depth(0, 0) = 2000;
  depth(1, 0) = 0;
  depth(2, 0) = -1;
  const Image<float> disparity = disparity_of_depth(depth, rig, 1e-3);
  EXPECT_NEAR(disparity(0, 0), rig.disparity(2), 1e-4);
  EXPECT_FALSE(std::isfinite(disparity(1, 0)));
  EXPECT_FALSE(std::isfinite(disparity(2, 0)));
  Rig without_scale = rig;
  without_scale.unit = no_scale;
  EXPECT_THROW(disparity_of_depth(depth, without_scale), Error);
}

TEST(Rig, ReprojectionAgreesWithTheRigAndComesBack) {
  const Rig rig = some_rig();
  const auto q = reprojection_of(rig);
  for (const auto& [x, y, d] : {std::array{100.0, 50.0, 20.0}, {900.0, 300.0, 64.5}}) {
    const double w = q[14] * d + q[15];
    const auto point = rig.point(x, y, d);
    EXPECT_NEAR((x + q[3]) / w, point[0], 1e-9);
    EXPECT_NEAR((y + q[7]) / w, point[1], 1e-9);
    EXPECT_NEAR(q[11] / w, point[2], 1e-9);
    EXPECT_NEAR(point[2], rig.depth(d), 1e-9);
  }
  const Rig back = rig_of_reprojection(q);
  EXPECT_NEAR(back.focal, rig.focal, 1e-9);
  EXPECT_NEAR(back.cx_left, rig.cx_left, 1e-9);
  EXPECT_NEAR(back.cx_right, rig.cx_right, 1e-9);
  EXPECT_NEAR(back.cy, rig.cy, 1e-9);
  EXPECT_NEAR(back.baseline, rig.baseline, 1e-12);
}

TEST(Rig, ReprojectionsOfTheWrongSignAreRefused) {
  auto q = reprojection_of(some_rig());
  q[14] = -q[14];
  EXPECT_THROW(rig_of_reprojection(q), Error);
  q = reprojection_of(some_rig());
  q[11] = -q[11];
  EXPECT_THROW(rig_of_reprojection(q), Error);
  q = reprojection_of(some_rig());
  q[13] = 0.1;
  EXPECT_THROW(rig_of_reprojection(q), Error);
}

TEST(Rig, UncertaintyGrowsWithTheSquareOfTheDepth) {
  const Rig rig = some_rig();
  EXPECT_NEAR(rig.depth_uncertainty(10, 0.5), 100 / (700 * 0.54) * 0.5, 1e-12);
  EXPECT_NEAR(rig.depth_uncertainty(20, 0.5), 4 * rig.depth_uncertainty(10, 0.5), 1e-12);
}

// A raw camera sees a point at the position that the map gives for the pixel of the point in the rectified view.
TEST(Rectification, MapsLeadToWhereTheRawCamerasSeeAPoint) {
  for (const auto model : {Lens::Model::polynomial, Lens::Model::fisheye}) {
    const StereoCalibration c = calibration_for({640, 480}, model);
    const RectificationMaps maps = rectification_maps(c);
    ASSERT_EQ(maps.size(), c.rig.size);
    for (const auto& [x, y, z] : {std::array{30, 40, 3000}, {620, 440, 9000}, {330, 240, 2000}, {400, 100, 50000}}) {
      const double d = c.rig.disparity(z);
      const Vector3 point = c.rig.point(x, y, d);
      const auto left = c.left.lens.project(turned(transposed(c.left.rectification), point));
      EXPECT_NEAR(maps.left(x, y, 0) / 256.0, left[0], 0.5 / 256 + 1e-9);
      EXPECT_NEAR(maps.left(x, y, 1) / 256.0, left[1], 0.5 / 256 + 1e-9);
      // The right camera sees the point in the same row, d pixels to the left. This position lies between two pixels,
      // which explains the tolerance.
      const Vector3 from_right{point[0] - c.rig.baseline, point[1], point[2]};
      const auto right = c.right.lens.project(turned(transposed(c.right.rectification), from_right));
      const int column = static_cast<int>(std::floor(x - d));
      if (column < 0 || column + 1 >= c.rig.size.width) continue;
      const double share = x - d - column;
      for (const int axis : {0, 1})
        EXPECT_NEAR((1 - share) * maps.right(column, y, axis) / 256.0 + share * maps.right(column + 1, y, axis) / 256.0,
                    right[static_cast<std::size_t>(axis)], 0.01);
    }
  }
}

TEST(Rectification, RaysThatALensDoesNotSeeHaveNoSource) {
  StereoCalibration c = calibration_for({640, 480});
  c.left.lens.distortion = {-0.4};
  c.rig.focal = 60;  // the rays of the corners are so steep that the polynomial folds back
  const RectificationMaps maps = rectification_maps(c);
  EXPECT_LT(maps.left(0, 0, 0), 0);
  EXPECT_LT(maps.left(642, 477, 0), 0);
  EXPECT_GE(maps.left(330, 240, 0), 0);
}

TEST(Rectification, SizesAndFocalLengthsThatCannotBeAreRefused) {
  StereoCalibration c = calibration_for({640, 480});
  c.rig.size = {};
  EXPECT_THROW(rectification_maps(c), Error);
  c = calibration_for({640, 480});
  c.right.lens.fy = 0;
  EXPECT_THROW(rectification_maps(c), Error);
}

TEST(Rectification, NumbersThatAreNotFiniteAreRefused) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto refuses = [](auto&& change) {
    StereoCalibration c = calibration_for({640, 480});
    change(c);
    EXPECT_THROW(rectification_maps(c), Error);
  };
  refuses([](auto& c) { c.left.lens.cx = nan; });
  refuses([](auto& c) { c.left.lens.fx = infinity; });
  refuses([](auto& c) { c.right.lens.distortion[0] = nan; });
  refuses([](auto& c) { c.left.rectification[4] = nan; });
  refuses([](auto& c) { c.left.rectification = {2, 0, 0, 0, 2, 0, 0, 0, 2}; });
  refuses([](auto& c) { c.rig.cy = infinity; });
  refuses([](auto& c) { c.rig.focal = infinity; });
}

TEST(Rig, ARangeRequiresNumbersThatAreFinite) {
  Rig rig = some_rig();
  rig.cx_right = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(rig.range(1000, 2000), Error);
}

}  // namespace
}  // namespace stereopsis::geometry_test
