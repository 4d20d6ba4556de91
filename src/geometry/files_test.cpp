// Tests that calibrations are read back as written, and tests real calibration files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "stereopsis/calibration.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/triangulation.hpp"
#include "support/files.hpp"
#include "support/rigs.hpp"

namespace stereopsis::files_test {
namespace {

using namespace test;
namespace fs = std::filesystem;

class CalibrationFiles : public testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& contents) const {
    return test::put(folder_ / name, contents);
  }

  TemporaryFolder folder_;
};

void expect_same_lens(const Lens& got, const Lens& expected) {
  EXPECT_EQ(got.fx, expected.fx);
  EXPECT_EQ(got.fy, expected.fy);
  EXPECT_EQ(got.cx, expected.cx);
  EXPECT_EQ(got.cy, expected.cy);
  EXPECT_EQ(got.model, expected.model);
  EXPECT_EQ(got.distortion, expected.distortion);
}

void expect_same(const StereoCalibration& got, const StereoCalibration& expected, double scale = 1) {
  EXPECT_EQ(got.size, expected.size);
  expect_same_lens(got.left.lens, expected.left.lens);
  expect_same_lens(got.right.lens, expected.right.lens);
  EXPECT_EQ(got.left.rectification, expected.left.rectification);
  EXPECT_EQ(got.right.rectification, expected.right.rectification);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(got.rotation[i], expected.rotation[i], 1e-12);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got.translation[i], scale * expected.translation[i], 1e-9);
  EXPECT_EQ(got.rig.size, expected.rig.size);
  EXPECT_EQ(got.rig.focal, expected.rig.focal);
  EXPECT_EQ(got.rig.cx_left, expected.rig.cx_left);
  EXPECT_EQ(got.rig.cx_right, expected.rig.cx_right);
  EXPECT_EQ(got.rig.cy, expected.rig.cy);
  EXPECT_NEAR(got.rig.baseline, scale * expected.rig.baseline, 1e-9);
}

TEST_F(CalibrationFiles, OpenCvsComeBackInBothNotations) {
  for (const auto model : {Lens::Model::polynomial, Lens::Model::fisheye})
    for (const char* name : {"rig.yml", "rig.yaml", "rig.xml"}) {
      SCOPED_TRACE(name);
      const StereoCalibration calibration = calibration_for({640, 480}, model);
      write_calibration(folder_ / name, calibration);
      const StereoCalibration got = read_calibration(folder_ / name);
      expect_same(got, calibration);
      EXPECT_EQ(got.rig.unit, "mm");
      const Rig rig = read_rig(folder_ / name);
      EXPECT_EQ(rig.size, calibration.rig.size);
      EXPECT_EQ(rig.unit, "mm");
      EXPECT_NEAR(rig.baseline, calibration.rig.baseline, 1e-9);
    }
}

TEST_F(CalibrationFiles, RosPairsComeBackInMetres) {
  StereoCalibration calibration = calibration_for({640, 480});
  // The raw and the rectified size differ.
  EXPECT_THROW(write_camera_info(folder_ / "l.yaml", folder_ / "r.yaml", calibration), Error);
  calibration.rig.size = calibration.size;
  write_camera_info(folder_ / "l.yaml", folder_ / "r.yaml", calibration);
  const StereoCalibration got = read_calibration(folder_ / "l.yaml", folder_ / "r.yaml");
  expect_same(got, calibration, 1e-3);
  EXPECT_EQ(got.rig.unit, "m");
  calibration.rig.unit = "";
  EXPECT_THROW(write_camera_info(folder_ / "l.yaml", folder_ / "r.yaml", calibration), Error);
}

TEST_F(CalibrationFiles, ARigAloneIsItsProjectionsAndQ) {
  const Rig rig = calibration_for({640, 480}).rig;
  write_rig(folder_ / "rig.yml", rig);
  const Rig got = read_rig(folder_ / "rig.yml");
  EXPECT_EQ(got.focal, rig.focal);
  EXPECT_EQ(got.cx_right, rig.cx_right);
  EXPECT_NEAR(got.baseline, rig.baseline, 1e-9);
  EXPECT_EQ(got.unit, "mm");
  EXPECT_EQ(got.size, rig.size);
  try {
    read_calibration(folder_ / "rig.yml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--raw"), std::string::npos) << error.what();
  }
  EXPECT_THROW(write_rig(folder_ / "rig.json", rig), Error);
}

TEST_F(CalibrationFiles, KittiRawHasTheCamerasToo) {
  const fs::path kitti = file(
      "calib_cam_to_cam.txt",
      "calib_time: 09-Jan-2012 13:57:47\n"
      "S_02: 1.392000e+03 5.120000e+02\nK_02: 960 0 690 0 950 240 0 0 1\nD_02: -0.37 0.19 1e-3 -5e-4 -0.07\n"
      "R_rect_02: 1 0 0 0 1 0 0 0 1\nP_rect_02: 721 0 609 45 0 721 172 0 0 0 1 0\nS_rect_02: 1242 375\n"
      "S_03: 1.392000e+03 5.120000e+02\nK_03: 903 0 695 0 902 242 0 0 1\nD_03: -0.36 0.18 0 0 -0.05\n"
      "R_rect_03: 0.8 -0.6 0 0.6 0.8 0 0 0 1\nP_rect_03: 721 0 609 -340 0 721 172 0 0 0 1 0\nS_rect_03: 1242 375\n");
  const StereoCalibration c = read_calibration(kitti);
  EXPECT_EQ(c.size, (Size{1392, 512}));
  EXPECT_EQ(c.rig.size, (Size{1242, 375}));
  EXPECT_EQ(c.right.lens.fx, 903);
  EXPECT_EQ(c.left.lens.distortion[4], -0.07);
  EXPECT_NEAR(c.rig.baseline, 385.0 / 721, 1e-9);
  EXPECT_NEAR(c.rotation[1], 0.6, 1e-12);  // follows from the rectification of the right camera
  EXPECT_EQ(rectification_maps(c).size(), c.rig.size);
}

TEST_F(CalibrationFiles, WhatIsNotSoundIsRefused) {
  write_calibration(folder_ / "rig.yml", calibration_for({640, 480}));
  const std::string sound = read_text(folder_ / "rig.yml");
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string contents = sound;
    const std::size_t at = contents.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    try {
      read_calibration(file("wrong.yml", contents.replace(at, from.size(), to)));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("(accepted)");
  };
  EXPECT_NE(refusal("M1:", "M3:").find("M1"), std::string::npos);
  EXPECT_NE(refusal("[ 500, 0, 318,", "[ 500, 2, 318,").find("skew"), std::string::npos);
  EXPECT_NE(refusal("[ 500, 0, 318,", "[ -500, 0, 318,").find("positive"), std::string::npos);
  EXPECT_NE(refusal("unit: \"mm\"", "unit: \"furlong\"").find("furlong"), std::string::npos);
  EXPECT_NE(refusal("image_width: 640\nimage_height: 480\n", "").find("image_width"), std::string::npos);
  EXPECT_NE(refusal("data: [ 498, 0, 331,", "data: [ nan, 0, 331,").find("finite"), std::string::npos);
  EXPECT_NE(refusal(" 1e-04 ]", " 1e-04, 0, 0.2 ]").find("tilts"), std::string::npos);
}

// The README of the data set documents Z = focal · baseline / (d + doffs).
TEST(RealDepth, MiddleburysFormulaHoldsForTheTruth) {
  const char* data = std::getenv("STEREOPSIS_DATA");
  if (data == nullptr) GTEST_SKIP() << "set STEREOPSIS_DATA to the data folder";
  struct Documented {
    const char* scene;
    double focal, baseline, doffs;
  };
  for (const Documented& d :
       {Documented{"motorcycle", 999.421, 193.001, 32.778}, {"adirondack", 1038.018, 176.252, 53.271}}) {
    const fs::path folder = fs::path(data) / "middlebury_2014q" / d.scene;
    const Rig rig = read_rig(folder / "calib.txt");
    const Image<float> truth = read_disparity(folder / "disp_left.pfm");
    const Triangulated metric = triangulated(truth, rig);
    long long known = 0;
    for (int y = 0; y < truth.height(); ++y)
      for (int x = 0; x < truth.width(); ++x) {
        if (std::isnan(truth(x, y))) {
          ASSERT_TRUE(std::isnan(metric.depth(x, y)));
          continue;
        }
        ++known;
        const double z = d.focal * d.baseline / (static_cast<double>(truth(x, y)) + d.doffs);
        ASSERT_NEAR(metric.depth(x, y), z, 5e-7 * z);
        ASSERT_EQ(metric.points(x, y, 2), metric.depth(x, y));
      }
    EXPECT_GT(known, 300000);
  }
}

}  // namespace
}  // namespace stereopsis::files_test
