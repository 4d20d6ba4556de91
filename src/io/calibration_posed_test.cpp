// Reads cameras to which depth is registered.
#include <gtest/gtest.h>

#include "io/test_files.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis {
namespace {

using namespace test;

PosedCamera read(const std::string& contents, const std::string& unit = "") {
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
  EXPECT_DOUBLE_EQ(read(size + lens + pose, "mm").translation[0], -0.06);
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
  // Where cam0 is the right camera, the pose is relative to cam1.
  const PosedCamera mirrored = read(camera(0, "") + camera(1, moved("0.11")) + camera(2, moved("0.04")));
  EXPECT_NEAR(mirrored.translation[0], 0.04, 1e-12);
  EXPECT_NEAR(mirrored.translation[2], 0.5, 1e-12);
  expect_rejected(camera(0, "") + camera(1, moved("-0.11")), "cam2");
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
}  // namespace stereopsis
