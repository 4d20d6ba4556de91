// Tests readers of cameras to which depth is registered.
#include <gtest/gtest.h>

#include "stereopsis/calibration.hpp"
#include "support/files.hpp"

namespace stereopsis::calibration_posed_test {
namespace {

using namespace test;

PosedCamera read(const std::string& contents, const std::optional<std::string>& unit = {}) {
  const TemporaryFolder folder;
  return read_posed_camera(put(folder / "camera.yml", contents), unit);
}

const std::string size = "image_width: 640\nimage_height: 480\n";
const std::string lens = "K: [600, 0, 320, 0, 601, 240, 0, 0, 1]\nD: [0.1, 0.2, 0.01, 0.02, 0.3]\n";
const std::string pose = "R: [1, 0, 0, 0, 0, -1, 0, 1, 0]\nT: [-0.06, 0.01, 0.02]\n";

void expect_rejected(const std::string& contents, const std::string& part) {
  EXPECT_TRUE(refuses([&] { read(contents); }, ErrorCategory::format, part));
}

TEST(PosedCamera, IsReadInTheNotationOfOpenCvAndOfRos) {
  for (const std::string& text :
       {size + lens + pose, size +
                                "camera_matrix:\n  rows: 3\n  cols: 3\n  data: [600, 0, 320, 0, 601, 240, 0, 0, 1]\n"
                                "distortion_model: plumb_bob\ndistortion_coefficients:\n  rows: 1\n  cols: 5\n"
                                "  data: [0.1, 0.2, 0.01, 0.02, 0.3]\n" +
                                pose}) {
    const PosedCamera camera = read(text);
    EXPECT_EQ(camera.size, (Size{640, 480}));
    EXPECT_EQ(camera.lens.fx, 600);
    EXPECT_EQ(camera.lens.cy, 240);
    EXPECT_EQ(camera.lens.distortion[4], 0.3);
    EXPECT_EQ(camera.rotation, (Matrix3{1, 0, 0, 0, 0, -1, 0, 1, 0}));
    EXPECT_EQ(camera.translation, (Vector3{-0.06, 0.01, 0.02}));
  }
}

TEST(PosedCamera, ConvertsTheUnitOfTheFile) {
  EXPECT_DOUBLE_EQ(read(size + lens + pose + "unit: m\n", "mm").translation[0], -60);
  EXPECT_DOUBLE_EQ(read(size + lens + pose + "unit: mm\n", "m").translation[1], 1e-5);
  EXPECT_DOUBLE_EQ(read(size + lens + pose + "unit: mm\n").translation[0], -0.06);
  EXPECT_DOUBLE_EQ(read(size + lens + pose, "").translation[0], -0.06);
  EXPECT_TRUE(refuses([&] { read(size + lens + pose, "mm"); }, ErrorCategory::call, "add `unit: m` or `unit: mm`"));
  EXPECT_TRUE(refuses([&] { read(size + lens + pose + "unit: mm\n", ""); }, ErrorCategory::call, "T is in mm"));
}

TEST(PosedCamera, IsTheThirdOfAKalibrCamchain) {
  const auto camera = [](int n, const std::string& more) {
    const std::string f = std::to_string(400 + n);
    return "cam" + std::to_string(n) +
           ":\n  camera_model: pinhole\n  distortion_model: equidistant\n"
           "  distortion_coeffs: [0.01, 0.02, 0.03, 0.04]\n  intrinsics: [" +
           f + ", " + f +
           ", 376, 240]\n"
           "  resolution: [752, 480]\n" +
           more;
  };
  const auto moved = [](const std::string& x) {
    return "  T_cn_cnm1:\n  - [1, 0, 0, " + x + "]\n  - [0, 1, 0, 0]\n  - [0, 0, 1, 0.5]\n  - [0, 0, 0, 1]\n";
  };
  const PosedCamera third = read(camera(0, "") + camera(1, moved("-0.11")) + camera(2, moved("0.04")), "mm");
  EXPECT_EQ(third.lens.fx, 402);
  EXPECT_EQ(third.lens.model, Lens::Model::fisheye);
  EXPECT_NEAR(third.translation[0], -70, 1e-9);
  EXPECT_NEAR(third.translation[2], 1000, 1e-9);
  // If cam0 is the right camera, the pose is relative to cam1.
  const PosedCamera mirrored = read(camera(0, "") + camera(1, moved("0.11")) + camera(2, moved("0.04")));
  EXPECT_NEAR(mirrored.translation[0], 0.04, 1e-12);
  EXPECT_NEAR(mirrored.translation[2], 0.5, 1e-12);
  // If the cameras are above each other, the pose is relative to cam0, as the pair is.
  const std::string below = replaced(replaced(moved("0.01"), "0, 1, 0, 0]", "0, 1, 0, -0.1]"), "0.5]", "0]");
  const PosedCamera beside = read(camera(0, "") + camera(1, below) + camera(2, moved("0.04")));
  EXPECT_NEAR(beside.translation[0], 0.05, 1e-12);
  EXPECT_NEAR(beside.translation[1], -0.1, 1e-12);
  expect_rejected(camera(0, "") + camera(1, moved("-0.11")), "cam2");
}

std::string euroc(const std::string& translation) {
  return "sensor_type: camera\nT_BS:\n  rows: 4\n  cols: 4\n  data: [0, -1, 0, " + translation +
         ", 1, 0, 0, 0.2, 0, 0, 1, 0.3, 0, 0, 0, 1]\nresolution: [752, 480]\ncamera_model: pinhole\n"
         "intrinsics: [458, 457, 367, 248]\ndistortion_model: radial-tangential\n"
         "distortion_coefficients: [-0.28, 0.07, 0.0002, 0.00002]\n";
}

// T_BS maps the camera's frame to the body's; both cameras are turned by 90° about their axis.
TEST(PosedCamera, IsACameraOfEuRoCBesideTheLeftOne) {
  const TemporaryFolder folder;
  const auto left = put(folder / "left.yaml", euroc("0.1")), third = put(folder / "third.yaml", euroc("0.15"));
  const PosedCamera camera = read_posed_camera(third, "mm", left);
  EXPECT_EQ(camera.size, (Size{752, 480}));
  EXPECT_EQ(camera.lens.fx, 458);
  EXPECT_EQ(camera.lens.distortion[0], -0.28);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(camera.rotation[i], i % 4 == 0 ? 1 : 0, 1e-12);
  EXPECT_NEAR(camera.translation[0], 0, 1e-9);
  EXPECT_NEAR(camera.translation[1], 50,
              1e-9);  // 50 mm along the body's x is 50 mm against the camera's y
  EXPECT_NEAR(camera.translation[2], 0, 1e-9);
  EXPECT_TRUE(refuses([&] { read_posed_camera(third); }, ErrorCategory::call, "sensor.yaml of the left camera, too"));
  const auto other = put(folder / "other.yml", size + lens + pose);
  EXPECT_TRUE(refuses([&] { read_posed_camera(third, {}, other); }, ErrorCategory::call, "has no T_BS"));
}

std::string realsense(const std::string& extrinsics) {
  return R"({"infrared1": {"width": 848, "height": 480, "fx": 425, "fy": 425, "ppx": 423.5, "ppy": 239.5},
"color": {"width": 640, "height": 360, "fx": 460, "fy": 461, "ppx": 320, "ppy": 180,
"model": "distortion.inverse_brown_conrady", "coeffs": [0, 0, 0, 0, 0]}, "extrinsics": {)" +
         extrinsics + "}}";
}

// librealsense stores rotations column by column.
TEST(PosedCamera, IsTheColourCameraOfARealSense) {
  const std::string motion = R"({"rotation": [0, 1, 0, -1, 0, 0, 0, 0, 1], "translation": [0.015, 0.001, 0.002]})";
  for (const std::string from : {"infrared1", "depth"}) {
    const PosedCamera camera = read(realsense("\"" + from + "_to_color\": " + motion), "mm");
    EXPECT_EQ(camera.size, (Size{640, 360}));
    EXPECT_EQ(camera.lens.fy, 461);
    EXPECT_EQ(camera.rotation, (Matrix3{0, -1, 0, 1, 0, 0, 0, 0, 1}));
    EXPECT_NEAR(camera.translation[0], 15, 1e-9);
  }
  const PosedCamera back = read(realsense("\"color_to_infrared1\": " + motion));
  EXPECT_EQ(back.rotation, (Matrix3{0, 1, 0, -1, 0, 0, 0, 0, 1}));
  EXPECT_NEAR(back.translation[0], -0.001, 1e-12);
  EXPECT_NEAR(back.translation[1], 0.015, 1e-12);
  expect_rejected(realsense("\"infrared1_to_infrared2\": " + motion), "infrared1_to_color");
}

TEST(PosedCamera, NamesThePartThatIsMissing) {
  expect_rejected(lens + pose, "image_width");
  expect_rejected(size + pose, "(K)");
  expect_rejected(size + "K: [600, 0, 320, 0, 601, 240, 0, 0, 1]\n" + pose, "(D)");
  expect_rejected(size + lens + "R: [1, 0, 0, 0, 0, -1, 0, 1, 0]\n", "(T)");
  expect_rejected(size + lens + "R: [1, 0, 0, 0, 2, -1, 0, 1, 0]\nT: [1, 2, 3]\n", "not a rotation");
  expect_rejected(size + "K: [600, 0, 320, 0, 601, 240, 0, 0, 1]\nD: [0.1, 0.2, 0.01, 0.02]\n" + pose,
                  "distortion_model: equidistant");
  expect_rejected(size + lens + pose + "unit: inch\n", "mm or m");
}

}  // namespace
}  // namespace stereopsis::calibration_posed_test
