// Tests every format of calibration files. One pair of cameras is written in each format and read back. Other tests use
// files that are incomplete, contradict themselves or do not belong to the images.
#include "io/calibration_formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "stereopsis/error.hpp"
#include "support/files.hpp"

namespace stereopsis::calibration_formats_test {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr std::array<double, 4> radtan = {-0.28, 0.09, 0.0004, -0.0003}, equidistant = {0.12, -0.03, 0.01, -0.002};
const Pose right_from_left = {rotation_by({0.01, -0.02, 0.006}), {-0.12, 0.002, 0.001}};

template <class Numbers>
std::string list(const Numbers& numbers, const char* separator = ", ") {
  std::string out;
  for (const double number : numbers) out += (out.empty() ? "" : separator) + number_text(number);
  return out;
}

std::array<double, 16> matrix_of(const Pose& pose) {
  const auto& r = pose.rotation;
  const auto& t = pose.translation;
  return {r[0], r[1], r[2], t[0], r[3], r[4], r[5], t[1], r[6], r[7], r[8], t[2], 0, 0, 0, 1};
}

// Returns w, x, y, z.
std::array<double, 4> quaternion_of(const Matrix3& r) {
  const Vector3 v = axis_and_angle_of(r);
  const double angle = length(v), s = angle > 0 ? std::sin(angle / 2) / angle : 0;
  return {std::cos(angle / 2), s * v[0], s * v[1], s * v[2]};
}

class CalibrationFormats : public testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& contents) const {
    fs::create_directories((folder_ / name).parent_path());
    return put(folder_ / name, contents);
  }

  std::string refusal(const std::vector<fs::path>& files, const CalibrationOptions& options = {},
                      ErrorCategory category = ErrorCategory::format) const {
    try {
      read(files, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), category) << error.what();
      return error.what();
    }
    return "(accepted)";
  }

  static CalibrationFile read(const std::vector<fs::path>& files, const CalibrationOptions& options = {}) {
    return read_calibration_file(files[0], files.size() > 1 ? std::optional(files[1]) : std::nullopt, options);
  }

  TemporaryFolder folder_;
};

// The files of the pair have the size 320×240, f = 300 and the principal point (159.5, 119.5).
void expect_pair(const CalibrationFile& read, const std::string& format, const std::array<double, 4>& distortion,
                 const std::string& unit, double k3 = 0) {
  EXPECT_EQ(read.format, format);
  ASSERT_TRUE(read.cameras.has_value()) << read.no_cameras->what();
  const StereoCalibration& c = *read.cameras;
  EXPECT_EQ(c.size, (Size{320, 240}));
  for (const Lens* lens : {&c.left.lens, &c.right.lens}) {
    EXPECT_DOUBLE_EQ(lens->fx, 300);
    EXPECT_DOUBLE_EQ(lens->fy, 300);
    EXPECT_DOUBLE_EQ(lens->cx, 159.5);
    EXPECT_DOUBLE_EQ(lens->cy, 119.5);
    EXPECT_EQ(lens->model == Lens::Model::fisheye, distortion == equidistant);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(lens->distortion[i], distortion[i]);
    EXPECT_DOUBLE_EQ(lens->distortion[4], k3);
  }
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(c.rotation[i], right_from_left.rotation[i], 1e-9);
  const double metre = unit == "mm" ? 1000 : 1;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(c.translation[i], metre * right_from_left.translation[i], 1e-9);
  EXPECT_EQ(read.rig.unit, unit);
  EXPECT_NEAR(read.rig.baseline, metre * length(right_from_left.translation), 1e-9);
  EXPECT_TRUE(read.raw_only);
  EXPECT_TRUE(read.warnings.empty()) << read.warnings[0];
  EXPECT_TRUE(calibration_warnings(c).empty());
}

// Expects a warning that the right camera is the first one in the file, and removes it.
CalibrationFile right_first(CalibrationFile read) {
  EXPECT_EQ(read.warnings.size(), 1U);
  EXPECT_TRUE(contains(read.warnings.at(0), "give the images of the second camera as left images"));
  read.warnings.clear();
  return read;
}

std::string opencv_matrix(const std::string& name, int rows, int columns, const std::string& data) {
  return text(name, ": !!opencv-matrix\n   rows: ", rows, "\n   cols: ", columns, "\n   dt: d\n   data: [ ", data,
              " ]\n");
}

// Returns a file with results of stereoCalibrate, in which the coefficients are `d`.
std::string opencv_cameras(const std::string& d, const std::string& more = "image_width: 320\nimage_height: 240\n") {
  std::string out = "%YAML:1.0\n---\n" + more;
  for (const char* camera : {"1", "2"}) {
    out += opencv_matrix(std::string("cameraMatrix") + camera, 3, 3, "300., 0., 159.5, 0., 300., 119.5, 0., 0., 1.");
    out += opencv_matrix(std::string("distCoeffs") + camera, 1, 4, d);
  }
  return out + opencv_matrix("R", 3, 3, list(right_from_left.rotation)) +
         opencv_matrix("T", 3, 1, list(right_from_left.translation));
}

TEST_F(CalibrationFormats, OpenCvWithoutRectification) {
  expect_pair(read({file("stereo.yml", opencv_cameras(list(radtan) + ", -0.01"))}), "OpenCV", radtan, "", -0.01);
  const std::string fisheye = opencv_cameras(list(equidistant), "imageSize: [ 320, 240 ]\ndistortion_model: fisheye\n");
  expect_pair(read({file("fisheye.yml", fisheye)}), "OpenCV", equidistant, "");
  std::string json = "{\"size\": [320, 240], \"R\": [0.01, -0.02, 0.006], \"T\": [[" +
                     list(right_from_left.translation, "], [") + "]], \"distortion_model\": \"radtan\"";
  for (const char* side : {"left", "right"})
    json += text(", \"camera_matrix_", side, "\": [[300, 0, 159.5], [0, 300, 119.5], [0, 0, 1]], \"dist_coeffs_", side,
                 "\": [", list(radtan), "]");
  expect_pair(read({file("stereo.json", json + "}")}), "OpenCV", radtan, "");
}

// Cameras above each other are read like cameras side by side whose images have rows and columns exchanged.
TEST_F(CalibrationFormats, CamerasAboveEachOther) {
  const auto cameras = [](const std::string& k, const std::string& d, const Pose& pose, const std::string& size) {
    std::string out = "%YAML:1.0\n---\n" + size;
    for (const char* camera : {"1", "2"})
      out += opencv_matrix(std::string("M") + camera, 3, 3, k) + opencv_matrix(std::string("D") + camera, 1, 5, d);
    return out + opencv_matrix("R", 3, 3, list(pose.rotation)) + opencv_matrix("T", 3, 1, list(pose.translation));
  };
  const Matrix3& r = right_from_left.rotation;
  const Vector3& t = right_from_left.translation;
  const Pose below = {{r[4], r[3], r[5], r[1], r[0], r[2], r[7], r[6], r[8]}, {t[1], t[0], t[2]}};
  const auto beside = read({file("h.yml", cameras("300, 0, 159.5, 0, 310, 119.5, 0, 0, 1", "-0.2, 0.1, 0.001, 0.002, 0",
                                                  right_from_left, "image_width: 320\nimage_height: 240\n"))});
  const fs::path vertical = file("v.yml", cameras("310, 0, 119.5, 0, 300, 159.5, 0, 0, 1", "-0.2, 0.1, 0.002, 0.001, 0",
                                                  below, "image_width: 240\nimage_height: 320\n"));
  const auto found = read({vertical}, {.size = {}, .lens = {}, .vertical = true});
  EXPECT_TRUE(found.vertical);
  EXPECT_FALSE(beside.vertical);
  EXPECT_EQ(found.cameras->size, (Size{320, 240}));
  EXPECT_EQ(found.cameras->rotation, beside.cameras->rotation);
  EXPECT_EQ(found.cameras->translation, beside.cameras->translation);
  for (const auto camera : {&StereoCalibration::left, &StereoCalibration::right}) {
    const Lens &one = (*found.cameras.*camera).lens, &other = (*beside.cameras.*camera).lens;
    EXPECT_EQ(std::tie(one.fx, one.fy, one.cx, one.cy), std::tie(other.fx, other.fy, other.cx, other.cy));
    EXPECT_EQ(one.distortion, other.distortion);
    EXPECT_EQ((*found.cameras.*camera).rectification, (*beside.cameras.*camera).rectification);
  }
  EXPECT_EQ(std::tie(found.rig.focal, found.rig.cx_left, found.rig.cx_right, found.rig.cy, found.rig.baseline),
            std::tie(beside.rig.focal, beside.rig.cx_left, beside.rig.cx_right, beside.rig.cy, beside.rig.baseline));
  EXPECT_TRUE(contains(refusal({vertical}), "`match --vertical`"));
  EXPECT_TRUE(
      contains(refusal({folder_ / "h.yml"}, {.size = {}, .lens = {}, .vertical = true}), "leave --vertical out"));
  const Pose above = {below.rotation, {-below.translation[0], -below.translation[1], 0}};
  EXPECT_TRUE(contains(refusal({file("up.yml", cameras("310, 0, 119.5, 0, 300, 159.5, 0, 0, 1", "0, 0, 0, 0, 0", above,
                                                       "image_width: 240\nimage_height: 320\n"))},
                               {.size = {}, .lens = {}, .vertical = true}),
                       "give the upper camera first"));
}

TEST_F(CalibrationFormats, RectifiedCamerasAboveEachOther) {
  const std::string size = "image_width: 240\nimage_height: 320\n";
  const fs::path opencv = file("v.yml", "%YAML:1.0\n---\n" + size +
                                            opencv_matrix("P1", 3, 4, "300, 0, 119, 0, 0, 300, 150, 0, 0, 0, 1, 0") +
                                            opencv_matrix("P2", 3, 4, "300, 0, 119, 0, 0, 300, 158, -36, 0, 0, 1, 0"));
  const auto read_vertical = [](const std::vector<fs::path>& files) {
    return read(files, {.size = {}, .lens = {}, .vertical = true});
  };
  const auto info = [&](const std::string& name, const std::string& p) {
    return file(name, size + "distortion_model: plumb_bob\n" +
                          "camera_matrix:\n  data: [300, 0, 119, 0, 310, 151, 0, 0, 1]\n"
                          "distortion_coefficients:\n  data: [0.1, 0, 0.001, 0.002, 0]\n"
                          "rectification_matrix:\n  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
                          "projection_matrix:\n  data: [" +
                          p + "]\n");
  };
  const CalibrationFile of_ros = read_vertical({info("upper.yaml", "300, 0, 119, 0, 0, 300, 150, 0, 0, 0, 1, 0"),
                                                info("lower.yaml", "300, 0, 119, 0, 0, 300, 158, -36, 0, 0, 1, 0")});
  for (const CalibrationFile& found : {read_vertical({opencv}), of_ros}) {
    EXPECT_TRUE(found.vertical);
    EXPECT_EQ(found.rig.size, (Size{320, 240}));
    EXPECT_EQ(found.rig.cx_left, 150);
    EXPECT_EQ(found.rig.cx_right, 158);
    EXPECT_EQ(found.rig.cy, 119);
    EXPECT_NEAR(found.rig.baseline, 0.12, 1e-12);
  }
  ASSERT_TRUE(of_ros.cameras.has_value());
  EXPECT_EQ(of_ros.cameras->size, (Size{320, 240}));
  EXPECT_EQ(of_ros.cameras->left.lens.fx, 310);
  EXPECT_EQ(of_ros.cameras->left.lens.distortion[2], 0.002);
  EXPECT_NEAR(of_ros.cameras->translation[0], -0.12, 1e-12);
  EXPECT_TRUE(contains(refusal({opencv}), "`match --vertical`"));
}

// The settings of ORB-SLAM contain OpenCV's matrices under other names, and without spaces after some of these names.
TEST_F(CalibrationFormats, OrbSlamSettings) {
  std::string settings = "%YAML:1.0\n\nCamera.type: \"PinHole\"\nViewer.PointSize:2\n";
  for (const auto& [side, tx] : {std::pair{"LEFT", "0."}, {"RIGHT", "-36."}})
    settings += text(
        side, ".height: 240\n", side, ".width: 320\n",
        replaced(opencv_matrix(text(side, ".D"), 1, 5, list(radtan) + ", 0."), "data: [", "data:["),
        opencv_matrix(text(side, ".K"), 3, 3, "300., 0., 159.5, 0., 300., 119.5, 0., 0., 1."),
        opencv_matrix(text(side, ".R"), 3, 3, "1., 0., 0., 0., 1., 0., 0., 0., 1."),
        opencv_matrix(text(side, ".P"), 3, 4, text("300., 0., 159.5, ", tx, ", 0., 300., 119.5, 0., 0., 0., 1., 0.")));
  const auto read_settings = read({file("EuRoC.yaml", settings)});
  EXPECT_NEAR(read_settings.rig.baseline, 0.12, 1e-12);
  ASSERT_TRUE(read_settings.cameras.has_value()) << read_settings.no_cameras->what();
  EXPECT_EQ(read_settings.cameras->size, (Size{320, 240}));
  EXPECT_EQ(read_settings.cameras->right.lens.distortion[1], radtan[1]);
}

std::string orbslam_camera(const std::string& name) {
  return text(name, ".fx: 300.\n", name, ".fy: 300.\n", name, ".cx: 159.5\n", name, ".cy: 119.5\n", name,
              ".k1: ", radtan[0], '\n', name, ".k2: ", radtan[1], '\n', name, ".p1: ", radtan[2], '\n', name,
              ".p2: ", radtan[3], '\n');
}

TEST_F(CalibrationFormats, OrbSlamSettingsOfTwoCameras) {
  const std::string pose =
      replaced(opencv_matrix("Stereo.T_c1_c2", 4, 4, list(matrix_of(right_from_left.inverse()))), "dt: d", "dt: f");
  const std::string settings = "%YAML:1.0\n\nCamera.type: \"PinHole\"\n" + orbslam_camera("Camera1") +
                               orbslam_camera("Camera2") + "Camera.width: 320\nCamera.height: 240\n" + pose;
  expect_pair(read({file("stereo.yaml", settings)}), "ORB-SLAM settings", radtan, "m");
}

TEST_F(CalibrationFormats, OrbSlamSettingsOfARectifiedPair) {
  std::string plain = "Camera.width: 320\nCamera.height: 240\n";
  for (const char* line : {"Camera.fx: 300.", "Camera.fy: 300.", "Camera.cx: 159.5", "Camera.cy: 119.5"})
    plain += text(line, '\n');
  for (const auto& settings : {plain + "Camera.bf: 36.\nCamera.k1: 0.0\n",
                               orbslam_camera("Camera1") + "Camera.type: \"Rectified\"\nStereo.b: 0.12\n"}) {
    const auto found = read({file("rectified.yaml", settings)});
    EXPECT_EQ(found.format, "ORB-SLAM settings");
    EXPECT_NEAR(found.rig.baseline, 0.12, 1e-12);
    EXPECT_EQ(found.rig.cx_right, 159.5);
    EXPECT_EQ(found.rig.unit, "m");
    EXPECT_FALSE(found.cameras.has_value());
    EXPECT_EQ(found.warnings.size(), contains(settings, "Camera1.k1: -0.28") ? 1U : 0U);
  }
  EXPECT_TRUE(contains(refusal({file("mono.yaml", plain)}), "Camera.bf"));
}

// DrivingStereo's files are KITTI's with other numbers of cameras.
TEST_F(CalibrationFormats, KittiWithOtherNumbersOfCameras) {
  const auto camera = [](const char* name, double tx) {
    return text("S_", name, ": 320 240\nK_", name, ": 300 0 159.5 0 300 119.5 0 0 1\nD_", name, ": 0 0 0 0 0\nR_rect_",
                name, ": 1 0 0 0 1 0 0 0 1\nP_rect_", name, ": 300 0 159.5 ", tx, " 0 300 119.5 0 0 0 1 0\n");
  };
  const std::string start = "calib_time: 08-Jul-2018 12:00:00\n";
  for (const std::string& both : {camera("101", 0) + camera("103", -36), camera("r", -36) + camera("t", 0)}) {
    const auto found = read({file("driving.txt", start + both)});
    EXPECT_EQ(found.format, "KITTI");
    EXPECT_NEAR(found.rig.baseline, 0.12, 1e-12);
    ASSERT_TRUE(found.cameras.has_value()) << found.no_cameras->what();
    EXPECT_NEAR(found.cameras->translation[0], -0.12, 1e-12);
  }
  const std::string three = camera("101", 0) + camera("102", -18) + camera("103", -36);
  EXPECT_TRUE(contains(refusal({file("three.txt", start + three)}), "P_rect_101, P_rect_102, P_rect_103"));
}

// Matrices written by Python are lists, as in KITTI's files.
TEST_F(CalibrationFormats, OpenCvMatricesAsListsInJson) {
  const auto listed = read({file("rig.json",
                                 "{\"P1\": [[300, 0, 159.5, 0], [0, 300, 119.5, 0], [0, 0, 1, 0]],\n"
                                 "\"P2\": [[300, 0, 159.5, -36], [0, 300, 119.5, 0], [0, 0, 1, 0]]}")});
  EXPECT_EQ(listed.format, "OpenCV");
  EXPECT_NEAR(listed.rig.baseline, 0.12, 1e-12);
}

TEST_F(CalibrationFormats, ALensModelThatTheFileDoesNotNameIsAsked) {
  const fs::path four = file("four.yml", opencv_cameras(list(radtan)));
  const std::string question = refusal({four}, {}, ErrorCategory::call);
  EXPECT_TRUE(contains(question, "--lens radtan") && contains(question, "--lens equidistant")) << question;
  EXPECT_TRUE(contains(question, "four.yml")) << question;
  CalibrationOptions options;
  options.lens = Lens::Model::polynomial;
  expect_pair(read({four}, options), "OpenCV", radtan, "");
  options.lens = Lens::Model::fisheye;
  EXPECT_EQ(read({four}, options).cameras->left.lens.model, Lens::Model::fisheye);
  const fs::path named =
      file("named.yml", opencv_cameras(list(radtan), "image_size: [320, 240]\ncamera_model: radtan\n"));
  EXPECT_TRUE(contains(refusal({named}, options, ErrorCategory::call), "leave --lens out"));
  // Without distortion, or with five coefficients, the lens model is unambiguous.
  EXPECT_EQ(refusal({file("zero.yml", opencv_cameras("0, 0, 0, 0"))}), "(accepted)");
  EXPECT_EQ(refusal({file("five.yml", opencv_cameras(list(radtan) + ", 0"))}), "(accepted)");
  // The name of a projection does not determine the distortion model.
  const fs::path pinhole =
      file("pinhole.yml", opencv_cameras(list(radtan), "size: [320, 240]\ncamera_model: pinhole\n"));
  EXPECT_TRUE(contains(refusal({pinhole}, {}, ErrorCategory::call), "--lens radtan"));
  EXPECT_EQ(refusal({pinhole}, options), "(accepted)");
  EXPECT_TRUE(contains(refusal({file("xi.yml", opencv_cameras(list(radtan), "xi1: 1.2\n"))}), "omnidirectional"));
  EXPECT_TRUE(contains(refusal({file("ds.yml", opencv_cameras("0, 0, 0, 0", "camera_model: ds\n"))}), "'ds'"));
  EXPECT_EQ(lens_model("plumb_bob"), Lens::Model::polynomial);
  EXPECT_EQ(lens_model("Kannala-Brandt"), Lens::Model::fisheye);
  EXPECT_THROW(lens_model("round"), Error);
}

std::string ros_file(const std::string& model, const std::array<double, 4>& d, double tx) {
  return text(
      "image_width: 320\nimage_height: 240\ncamera_name: left\n"
      "camera_matrix:\n  rows: 3\n  cols: 3\n  data: [140, 0, 159.5, 0, 140, 119.5, 0, 0, 1]\n",
      model, "distortion_coefficients:\n  rows: 1\n  cols: 4\n  data: [", list(d),
      "]\nrectification_matrix:\n  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nprojection_matrix:\n  rows: 3\n  cols: 4\n"
      "  data: [116, 0, 164, ",
      number_text(tx), ", 0, 116, 119, 0, 0, 0, 1, 0]\n");
}

TEST_F(CalibrationFormats, RosNamesItsModelInTwoKeys) {
  for (const char* key :
       {"camera_model: fisheye\n", "distortion_model: equidistant\n", "distortion_model: fisheye\n"}) {
    const auto c =
        read({file("l.yaml", ros_file(key, equidistant, 0)), file("r.yaml", ros_file(key, equidistant, -13.92))});
    ASSERT_TRUE(c.cameras.has_value()) << key;
    EXPECT_EQ(c.cameras->left.lens.model, Lens::Model::fisheye) << key;
    EXPECT_NEAR(c.rig.baseline, 0.12, 1e-12);
  }
  const auto unnamed =
      read({file("l.yaml", ros_file("", equidistant, 0)), file("r.yaml", ros_file("", equidistant, -13.92))});
  ASSERT_TRUE(unnamed.no_cameras.has_value());  // the rig of rectified images is known, but the lenses are not
  EXPECT_EQ(unnamed.no_cameras->category(), ErrorCategory::call);
  EXPECT_TRUE(contains(unnamed.no_cameras->what(), "--lens"));
}

// A message as `rostopic echo` or `ros2 topic echo` prints it.
std::string echoed(bool ros2, double tx, const std::string& more = "") {
  std::string out =
      "header:\n  stamp:\n    sec: 1\n  frame_id: cam\nheight: 240\nwidth: 320\ndistortion_model: plumb_bob\n";
  for (const auto& [name, numbers] :
       {std::pair{"D", std::string("0.0, 0.0, 0.0, 0.0, 0.0")},
        {"K", std::string("300.0, 0.0, 159.5, 0.0, 300.0, 119.5, 0.0, 0.0, 1.0")},
        {"R", std::string("1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0")},
        {"P", "300.0, 0.0, 159.5, " + number_text(tx) + ", 0.0, 300.0, 119.5, 0.0, 0.0, 0.0, 1.0, 0.0"}}) {
    if (!ros2) {
      out += text(name, ": [", numbers, "]\n");
      continue;
    }
    out += text(static_cast<char>(name[0] - 'A' + 'a'), ":\n");
    for (const std::string& number : split(numbers, ',')) out += "- " + number + "\n";
  }
  return out + more + "---\nheader:\n  stamp:\n    sec: 2\n";
}

TEST_F(CalibrationFormats, RosTopicsAreReadInBothSpellings) {
  for (const bool ros2 : {false, true}) {
    const auto c = read({file("l.yaml", echoed(ros2, 0)), file("r.yaml", echoed(ros2, -36))});
    EXPECT_EQ(c.rig.focal, 300);
    EXPECT_NEAR(c.rig.baseline, 0.12, 1e-12);
    EXPECT_EQ(c.rig.size, (Size{320, 240}));
    EXPECT_TRUE(c.cameras.has_value());
    EXPECT_FALSE(c.raw_only);
  }
  const std::string part =
      "binning_x: 2\nbinning_y: 2\nroi:\n  x_offset: 20\n  y_offset: 40\n  height: 160\n  width: 200\n";
  const auto c = read({file("l.yaml", echoed(false, 0, part)), file("r.yaml", echoed(false, -36, part))});
  EXPECT_EQ(c.rig.size, (Size{100, 80}));
  EXPECT_EQ(c.rig.focal, 150);
  EXPECT_EQ(c.rig.cx_left, (159.5 - 20) / 2);
  EXPECT_EQ(c.rig.cy, (119.5 - 40) / 2);
  EXPECT_NEAR(c.rig.baseline, 0.12, 1e-12);
}

std::string kalibr(const std::string& model, const std::array<double, 4>& d, const std::string& pose) {
  std::string out;
  for (const char* camera : {"cam0", "cam1"})
    out += text(camera, ":\n  camera_model: pinhole\n  distortion_coeffs: [", list(d), "]\n  distortion_model: ", model,
                "\n  intrinsics: [300.0, 300.0, 159.5, 119.5]\n  resolution: [320, 240]\n",
                camera == std::string("cam1") ? pose : "");
  return out;
}

std::string rows_of(const std::string& name, const Pose& pose) {
  const auto m = matrix_of(pose);
  std::string out = "  " + name + ":\n";
  for (std::size_t row = 0; row < 4; ++row) out += "  - [" + list(std::span(m).subspan(4 * row, 4)) + "]\n";
  return out;
}

TEST_F(CalibrationFormats, KalibrCamchain) {
  const std::string pose = rows_of("T_cn_cnm1", right_from_left);
  expect_pair(read({file("a.yaml", kalibr("radtan", radtan, pose))}), "Kalibr camchain", radtan, "m");
  expect_pair(read({file("b.yaml", kalibr("equidistant", equidistant, pose))}), "Kalibr camchain", equidistant, "m");
  // The poses of the cameras relative to the IMU; cam0 may be the right camera.
  const Pose imu{rotation_by({0.4, 1.2, -0.3}), {0.05, -0.02, 0.01}};
  const std::string of_imu = replaced(kalibr("radtan", radtan, rows_of("T_cam_imu", after(right_from_left, imu))),
                                      "cam1:\n", rows_of("T_cam_imu", imu) + "cam1:\n");
  expect_pair(read({file("c.yaml", of_imu)}), "Kalibr camchain", radtan, "m");
  const std::string swapped = rows_of("T_cn_cnm1", right_from_left.inverse());
  expect_pair(right_first(read({file("d.yaml", kalibr("radtan", radtan, swapped))})), "Kalibr camchain", radtan, "m");
  EXPECT_TRUE(contains(refusal({file("e.yaml", kalibr("radtan", radtan, ""))}), "T_cn_cnm1"));
  for (const char* model : {"omni", "ds", "eucm"}) {
    const std::string other = replaced(kalibr("radtan", radtan, pose), "pinhole", model);
    const std::string sentence = refusal({file("f.yaml", other)});
    EXPECT_TRUE(contains(sentence, model) && contains(sentence, "pinhole")) << sentence;
  }
  EXPECT_TRUE(contains(refusal({file("g.yaml", kalibr("fov", radtan, pose))}), "'fov'"));
}

std::string sensor(const Pose& body_from_sensor, const std::string& model, const std::array<double, 4>& d) {
  return text("# camera\nsensor_type: camera\nT_BS:\n  cols: 4\n  rows: 4\n  data: [",
              list(matrix_of(body_from_sensor)),
              "]\nrate_hz: 20\nresolution: [320, 240]\ncamera_model: pinhole\n"
              "intrinsics: [300.0, 300.0, 159.5, 119.5] #fu, fv, cu, cv\ndistortion_model: ",
              model, "\ndistortion_coefficients: [", list(d), "]\n");
}

TEST_F(CalibrationFormats, EurocInTwoFilesOrAFolder) {
  const Pose left{rotation_by({0.1, 0.2, 1.5}), {0.02, 0.06, 0.01}}, right = after(left, right_from_left.inverse());
  const auto l = file("mav0/cam0/sensor.yaml", sensor(left, "radial-tangential", radtan));
  const auto r = file("mav0/cam1/sensor.yaml", sensor(right, "radial-tangential", radtan));
  expect_pair(read({l, r}), "EuRoC sensor.yaml", radtan, "m");
  expect_pair(read({folder_ / "mav0"}), "EuRoC sensor.yaml", radtan, "m");
  expect_pair(read({folder_ / ""}), "EuRoC sensor.yaml", radtan, "m");
  EXPECT_TRUE(contains(refusal({l}, {}, ErrorCategory::call), "right camera"));
  EXPECT_TRUE(contains(refusal({r, l}), "swap"));
  fs::create_directory(folder_ / "empty");
  EXPECT_TRUE(contains(refusal({folder_ / "empty"}, {}, ErrorCategory::file), "cam0/sensor.yaml"));
}

std::string camodocal(bool fisheye) {
  const std::string start = "%YAML:1.0\n---\ncamera_name: camera\nimage_width: 320\nimage_height: 240\n";
  if (fisheye)
    return start +
           "model_type: KANNALA_BRANDT\nprojection_parameters:\n   k2: 0.12\n   k3: -0.03\n   k4: 0.01\n   k5: -0.002\n"
           "   mu: 300.\n   mv: 300.\n   u0: 159.5\n   v0: 119.5\n";
  return start +
         "model_type: PINHOLE\ndistortion_parameters:\n   k1: -0.28\n   k2: 0.09\n   p1: 0.0004\n   p2: -0.0003\n"
         "projection_parameters:\n   fx: 300.\n   fy: 300.\n   cx: 159.5\n   cy: 119.5\n";
}

TEST_F(CalibrationFormats, CamodocalAndVins) {
  const Pose left{rotation_by({0.1, 0.2, 1.5}), {0.02, 0.06, 0.01}}, right = after(left, right_from_left.inverse());
  file("left.yaml", camodocal(true));
  file("right.yaml", camodocal(true));
  const auto configuration = [&](const std::string& name, const Pose& first, const Pose& second) {
    return file(name, "%YAML:1.0\nimu: 1\ncam0_calib: \"left.yaml\"\ncam1_calib: \"right.yaml\"\n" +
                          opencv_matrix("body_T_cam0", 4, 4, list(matrix_of(first))) +
                          opencv_matrix("body_T_cam1", 4, 4, list(matrix_of(second))));
  };
  const auto vins = configuration("vins.yaml", left, right);
  expect_pair(read({vins}), "camodocal or VINS", equidistant, "m");
  const CalibrationFile swapped = read({configuration("swapped.yaml", right, left)});
  EXPECT_TRUE(contains(swapped.warnings.at(0), "swapped.yaml, ")) << swapped.warnings[0];
  expect_pair(right_first(swapped), "camodocal or VINS", equidistant, "m");
  EXPECT_TRUE(contains(refusal({folder_ / "left.yaml", folder_ / "right.yaml"}), "pose"));
  const auto q = quaternion_of(right_from_left.rotation);
  const auto& t = right_from_left.translation;
  file("rig/camera_left.yaml", camodocal(false));
  file("rig/camera_right.yaml", camodocal(false));
  file("rig/extrinsics.yaml",
       text("%YAML:1.0\ntransform:\n   q_x: ", number_text(q[1]), "\n   q_y: ", number_text(q[2]),
            "\n   q_z: ", number_text(q[3]), "\n   q_w: ", number_text(q[0]), "\n   t_x: ", number_text(t[0]),
            "\n   t_y: ", number_text(t[1]), "\n   t_z: ", number_text(t[2]), '\n'));
  expect_pair(read({folder_ / "rig"}), "camodocal or VINS", radtan, "");
  for (const char* name : {"left.yaml", "right.yaml"})
    file(name, replaced(camodocal(true), "image_width: 320\nimage_height: 240\n", ""));
  expect_pair(read({vins}, {.size = {320, 240}, .lens = {}}), "camodocal or VINS", equidistant, "m");
  EXPECT_TRUE(contains(refusal({vins}), "no image size"));
  file("left.yaml", replaced(camodocal(true), "KANNALA_BRANDT", "MEI"));
  EXPECT_TRUE(contains(refusal({vins}), "'MEI'"));
}

std::string zed(const std::string& resolution) {
  std::string out;
  for (const char* side : {"LEFT", "RIGHT"})
    out += text('[', side, "_CAM_", resolution,
                "]\nfx=300\nfy=300\ncx=159.5\ncy=119.5\nk1=-0.28\nk2=0.09\np1=0.0004\n"
                "p2=-0.0003\nk3=-0.01\n\n");
  return out;
}

TEST_F(CalibrationFormats, ZedConf) {
  const std::string stereo =
      "[STEREO]\nBaseline=120\nTY=-2\nTZ=-1\nCV_VGA=-0.02\nRX_VGA=0.01\nRZ_VGA=0.006\n"
      "CV_HD=-0.02\nRX_HD=0.01\nRZ_HD=0.006\n";
  CalibrationOptions options;
  options.size = {320, 240};
  expect_pair(read({file("SN1.conf", zed("VGA") + stereo)}, options), "ZED .conf", radtan, "mm", -0.01);
  const auto both = file("SN2.conf", zed("HD") + zed("VGA") + stereo);
  EXPECT_TRUE(contains(refusal({both}, options), "1280×720, 672×376"));
  // In newer files, the distortion is in a separate section for all resolutions.
  std::string apart = replaced(zed("VGA"), "k1=-0.28\nk2=0.09\np1=0.0004\np2=-0.0003\nk3=-0.01\n", "") + stereo;
  apart = replaced(apart, "k1=-0.28\nk2=0.09\np1=0.0004\np2=-0.0003\nk3=-0.01\n", "");
  for (const char* side : {"LEFT", "RIGHT"})
    apart += text('[', side, "_DISTO]\nk1=-0.28\nk2=0.09\np1=0.0004\np2=-0.0003\nk3=-0.01\n");
  expect_pair(read({file("SN3.conf", apart)}, options), "ZED .conf", radtan, "mm", -0.01);
  options.size = {672, 376};
  EXPECT_EQ(read({both}, options).cameras->size, options.size);
  EXPECT_TRUE(contains(refusal({both}, {}, ErrorCategory::call), "size"));
}

TEST_F(CalibrationFormats, CityscapesHasTheRectifiedCamera) {
  const auto c = read({file("camera.json",
                            "{\"extrinsic\": {\"baseline\": 0.209313, \"pitch\": 0.03, \"roll\": 0.0},\n"
                            "\"intrinsic\": {\"fx\": 2262.52, \"fy\": 2265.30, \"u0\": 1096.98, \"v0\": 513.137}}")});
  EXPECT_EQ(c.format, "Cityscapes camera.json");
  EXPECT_EQ(c.rig.focal, 2262.52);
  EXPECT_EQ(c.rig.baseline, 0.209313);
  EXPECT_EQ(c.rig.unit, "m");
  EXPECT_EQ(c.rig.cx_left, c.rig.cx_right);
  EXPECT_TRUE(contains(c.no_cameras->what(), "--raw"));
}

TEST_F(CalibrationFormats, RealSenseParametersAsJson) {
  std::string json = "{\"serial\": \"1234\"";
  for (const char* name : {"infrared1", "infrared2"})
    json += text(", \"", name,
                 "\": {\"width\": 320, \"height\": 240, \"fx\": 300.0, \"fy\": 300.0, \"ppx\": 159.5, "
                 "\"ppy\": 119.5, \"model\": \"distortion.brown_conrady\", \"coeffs\": [",
                 list(radtan), ", 0.0]}");
  json += text(", \"extrinsics\": {\"infrared1_to_infrared2\": {\"rotation\": [",
               list(transposed(right_from_left.rotation)), "], \"translation\": [", list(right_from_left.translation),
               "]}}}");
  expect_pair(read({file("rs.json", json)}), "RealSense", radtan, "m");
  EXPECT_TRUE(contains(refusal({file("one.json", replaced(json, "infrared2\"", "color\""))}), "infrared2"));
  // For rectified imagers, the baseline is sufficient.
  const std::string camera =
      "{\"width\": 848, \"height\": 480, \"fx\": 425.5, \"fy\": 425.5, \"cx\": 423.5, \"cy\": 239.5}";
  const auto rectified =
      read({file("b.json", "{\"left\": " + camera + ", \"right\": " + camera + ", \"baseline_mm\": 50}")});
  EXPECT_NEAR(rectified.rig.focal, 425.5, 1e-9);
  EXPECT_NEAR(rectified.rig.baseline, 0.05, 1e-12);
  EXPECT_FALSE(rectified.raw_only);
}

TEST_F(CalibrationFormats, DepthaiEeprom) {
  const auto camera = [](const Pose* pose, int to) {
    const Pose p = pose != nullptr ? *pose : Pose{};
    const auto row = [&](std::size_t i) { return "[" + list(std::span(p.rotation).subspan(3 * i, 3)) + "]"; };
    const auto& t = p.translation;
    return text(
        "{\"cameraType\": 0, \"width\": 320, \"height\": 240, \"intrinsicMatrix\": [[300.0, 0.0, 159.5], "
        "[0.0, 300.0, 119.5], [0.0, 0.0, 1.0]], \"distortionCoeff\": [",
        list(radtan), ", -0.01, 0, 0, 0, 0, 0, 0, 0, 0, 0], \"extrinsics\": {\"rotationMatrix\": [", row(0), ", ",
        row(1), ", ", row(2), "], \"toCameraSocket\": ", to, ", \"translation\": {\"x\": ", number_text(100 * t[0]),
        ", \"y\": ", number_text(100 * t[1]), ", \"z\": ", number_text(100 * t[2]), "}}}");
  };
  const std::string json = "{\"boardName\": \"OAK\", \"cameraData\": [[0, " + camera(nullptr, -1) + "], [1, " +
                           camera(&right_from_left, 2) + "], [2, " + camera(nullptr, 0) +
                           "]], \"stereoRectificationData\": {\"leftCameraSocket\": 1, \"rightCameraSocket\": 2}}";
  expect_pair(read({file("oak.json", json)}), "depthai EEPROM", radtan, "m", -0.01);
}

TEST_F(CalibrationFormats, ColmapRigsAndImages) {
  file("cameras.txt", "# Camera list\n1 OPENCV 320 240 300 300 160 120 " + list(radtan, " ") +
                          "\n4 OPENCV 320 240 300 300 160 120 " + list(radtan, " ") + "\n");
  const auto rigs =
      file("rigs.txt", "# Rig list\n1 2 CAMERA 1 CAMERA 4 1 " + list(quaternion_of(right_from_left.rotation), " ") +
                           " " + list(right_from_left.translation, " ") + "\n");
  expect_pair(read({folder_ / "cameras.txt", rigs}), "COLMAP", radtan, "");
  expect_pair(read({folder_ / ""}), "COLMAP", radtan, "");
  const Pose world{rotation_by({0.3, 0.1, -0.2}), {1, 2, 3}}, right = after(right_from_left, world);
  const auto image = [](int id, const Pose& pose, int camera) {
    return text(id, ' ', list(quaternion_of(pose.rotation), " "), ' ', list(pose.translation, " "), ' ', camera, " cam",
                camera, "/0.png\n100.5 20.25 -1 7 8 -1\n");
  };
  const auto images = file("images.txt", "# Image list\n" + image(1, right, 4) + image(2, world, 1));
  expect_pair(right_first(read({folder_ / "cameras.txt", images})), "COLMAP", radtan, "");
  EXPECT_TRUE(contains(refusal({folder_ / "cameras.txt"}, {}, ErrorCategory::call), "rigs.txt"));
  fs::create_directory(folder_ / "binary");
  const auto binary = file("binary/cameras.bin", std::string("\1\0\0\0", 4));
  for (const auto& given : {binary, folder_ / "binary"})
    EXPECT_TRUE(contains(refusal({given}), "--output_type TXT")) << given;
  file("cameras.txt", "1 THIN_PRISM_FISHEYE 320 240 300 300 160 120 0 0 0 0 0 0 0 0\n");
  EXPECT_TRUE(contains(refusal({folder_ / "cameras.txt", rigs}), "THIN_PRISM_FISHEYE"));
}

TEST_F(CalibrationFormats, AgisoftCameras) {
  const Pose left{rotation_by({0.3, 0.1, -0.2}), {1, 2, 3}}, right = after(left, right_from_left.inverse());
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<document version=\"2.0.0\">\n<chunk label=\"1\">\n<sensors>";
  for (const char* id : {"0", "1"})
    xml += text("<sensor id=\"", id,
                "\" type=\"frame\"><resolution width=\"320\" height=\"240\"/>"
                "<calibration type=\"frame\" class=\"adjusted\"><resolution width=\"320\" height=\"240\"/><f>300</f>"
                "<cx>0</cx><cy>0</cy><k1>-0.28</k1><k2>0.09</k2><k3>-0.01</k3><p1>-0.0003</p1><p2>0.0004</p2>"
                "</calibration></sensor>");
  xml += "</sensors><cameras>";
  xml +=
      "<camera id=\"0\" sensor_id=\"0\" label=\"l\"><transform>" + list(matrix_of(left), " ") + "</transform></camera>";
  xml += "<camera id=\"1\" sensor_id=\"1\" label=\"r\"><transform>" + list(matrix_of(right), " ") +
         "</transform></camera>";
  xml += "<camera id=\"2\" sensor_id=\"1\" label=\"not aligned\"/></cameras></chunk></document>\n";
  expect_pair(read({file("cameras.xml", xml)}), "Agisoft XML", radtan, "", -0.01);
  EXPECT_TRUE(contains(refusal({file("b2.xml", replaced(xml, "<cx>0", "<b2>0.3</b2><cx>0"))}), "b2"));
  const auto typed = [&](const char* type) {
    return replaced(xml, "<calibration type=\"frame\"", text("<calibration type=\"", type, '"'));
  };
  EXPECT_TRUE(contains(refusal({file("s.xml", typed("spherical"))}), "type is 'spherical'"));
}

TEST_F(CalibrationFormats, MrptStereoCamera) {
  const Pose left_from_right = right_from_left.inverse();
  std::string ini;
  for (const char* side : {"LEFT", "RIGHT"})
    ini += text("[CAMERA_", side, "]\nresolution=[320 240]\ncx=159.5\ncy=119.5\nfx=300\nfy=300\ndist=[",
                list(radtan, " "), " -0.01]\n");
  ini += "[CAMERA_LEFT2RIGHT_POSE]\npose_quaternion=[" + list(left_from_right.translation, " ") + " " +
         list(quaternion_of(left_from_right.rotation), " ") + "]\n";
  expect_pair(read({file("mrpt.ini", ini)}), "MRPT", radtan, "m", -0.01);
}

TEST_F(CalibrationFormats, AMatrixWithABaseline) {
  for (const char* k : {"300 0 159.5 0 300 119.5 0 0 1", "300 0 159.5\n0 300 119.5\n0 0 1"}) {
    const CalibrationFile read_file = read({file("K.txt", text(k, "\n0.12\n"))});
    EXPECT_EQ(read_file.format, "K.txt");
    EXPECT_EQ(read_file.rig.focal, 300);
    EXPECT_EQ(read_file.rig.cx_left, 159.5);
    EXPECT_EQ(read_file.rig.cx_right, 159.5);
    EXPECT_NEAR(read_file.rig.baseline, 0.12, 1e-12);
    EXPECT_EQ(read_file.rig.unit, "m");
    EXPECT_TRUE(contains(refusal({file("alone.txt", k)}), "no baseline"));
  }
}

// Both cameras of ROS's camera_calibration in one file, or each in its own.
TEST_F(CalibrationFormats, OstFilesOfRos) {
  const std::string image = "# oST version 5.0 parameters\n\n\n[image]\n\nwidth\n320\n\nheight\n240\n\n";
  const auto camera = [](const char* name, double tx) {
    return text("[narrow_stereo/", name,
                "]\n\ncamera matrix\n300.0 0.0 159.5\n0.0 300.0 119.5\n0.0 0.0 1.0\n\ndistortion\n", list(radtan, " "),
                " 0.0\n\nrectification\n1.0 0.0 0.0\n0.0 1.0 0.0\n0.0 0.0 1.0\n\nprojection\n300.0 0.0 159.5 ",
                number_text(tx), "\n0.0 300.0 119.5 0.0\n0.0 0.0 1.0 0.0\n\n");
  };
  const std::string left = camera("left", 0), right = camera("right", -36);
  for (const auto& files : {std::vector{file("ost.txt", image + left + right)},
                            {file("twice.txt", image + left + image + right)},
                            {file("left.txt", image + left), file("right.txt", image + right)}}) {
    const CalibrationFile read_file = read(files);
    EXPECT_EQ(read_file.format, "ROS camera_info");
    EXPECT_NEAR(read_file.rig.baseline, 0.12, 1e-12);
    ASSERT_TRUE(read_file.cameras.has_value());
    EXPECT_EQ(read_file.cameras->size, (Size{320, 240}));
    EXPECT_EQ(read_file.cameras->left.lens.distortion[0], radtan[0]);
  }
  EXPECT_TRUE(contains(refusal({file("one.txt", image + left)}, {}, ErrorCategory::call), "the right camera"));
}

TEST_F(CalibrationFormats, FilesThatAreNoCalibrationAreNamed) {
  using namespace std::string_literals;
  for (const auto& [contents, part] :
       {std::pair{"MATLAB 5.0 MAT-file, Platform: GLNXA64"s, "MATLAB file"},
        {"PK\3\4..mtx1.npy\x93NUMPY"s, "NumPy archive"},
        {"PK\3\4..calib.yml"s, "ZIP archive"},
        {"\x80\4\x95\0\0"s, "Python pickle"},
        {"\x89PNG\r\n"s, "an image (PNG)"},
        {"#ROSBAG V2.0\n"s, "a ROS bag"},
        {"<!DOCTYPE html><html>"s, "a web page"},
        {"version https://git-lfs.github.com/spec/v1\n"s, "Git LFS"},
        {"\1\2\0\3"s, "binary data"},
        {"Device info:\n Intrinsic of \"Infrared 1\" / 320x240\n"s, "rs-enumerate-devices"}})
    EXPECT_TRUE(contains(refusal({file("x", contents)}), part)) << refusal({file("x", contents)});
}

TEST_F(CalibrationFormats, TransposedMatricesOfMatlabAreNamed) {
  const std::string whole = opencv_cameras(list(radtan) + ", 0");
  std::string wrong = whole;
  for (int camera = 0; camera < 2; ++camera)
    wrong = replaced(wrong, "300., 0., 159.5, 0., 300., 119.5, 0., 0., 1.", "300, 0, 0, 0, 300, 0, 159.5, 119.5, 1");
  EXPECT_TRUE(contains(refusal({file("k.yml", wrong)}), "cameraMatrix1.data is transposed, as MATLAB stores it"));
  wrong = replaced(whole, "119.5, 0., 0., 1.", "119.5, 0., 0., 2.");
  EXPECT_TRUE(contains(refusal({file("k.yml", wrong)}), "not a camera matrix"));
  StereoCalibration calibration = *read({file("a.yml", whole)}).cameras;
  calibration.rotation = transposed(calibration.rotation);
  write_calibration(folder_ / "r.yml", calibration);
  const auto warnings = read({folder_ / "r.yml"}).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[0], "R is transposed, as MATLAB stores it")) << warnings[0];
}

TEST_F(CalibrationFormats, ARectifiedSizeThatCutsOffThePictureIsWarnedOf) {
  const StereoCalibration sound = *read({file("a.yml", opencv_cameras(list(radtan) + ", 0"))}).cameras;
  EXPECT_TRUE(calibration_warnings(sound).empty());
  // stereoRectify with newImageSize: focal length and principal point are scaled, and the size is not in the file.
  const auto scaled = [&](double scale) {
    StereoCalibration c = sound;
    c.rig.focal *= scale;
    for (double* position : {&c.rig.cx_left, &c.rig.cx_right, &c.rig.cy}) *position = (*position + 0.5) * scale - 0.5;
    return c;
  };
  const auto large = calibration_warnings(scaled(1.75)), small = calibration_warnings(scaled(0.6));
  ASSERT_EQ(large.size(), 1U);
  EXPECT_TRUE(contains(large[0], "of the left camera's picture") && contains(large[0], "rectified_size: [ "))
      << large[0];
  ASSERT_EQ(small.size(), 1U);
  EXPECT_TRUE(contains(small[0], "fills only")) << small[0];
  // The images of a rectified pair have the size of P1, which is not in the file.
  write_calibration(folder_ / "large.yml", scaled(1.75));
  const std::string whole = get(folder_ / "large.yml"), key = "rectified_size";
  const std::size_t at = whole.find(key);
  ASSERT_NE(at, std::string::npos);  // read back, the size is the written one
  EXPECT_EQ(read({folder_ / "large.yml"}).rig.size, (Size{320, 240}));
  const CalibrationFile unstated =
      read({file("unstated.yml", whole.substr(0, at) + whole.substr(whole.find('\n', at) + 1))});
  EXPECT_EQ(unstated.rig.size, Size{});
  EXPECT_EQ(unstated.cameras->rig.size, (Size{320, 240}));
  StereoCalibration stated = scaled(1.75);
  stated.rig.size = {560, 420};
  EXPECT_TRUE(calibration_warnings(stated).empty());
}

TEST_F(CalibrationFormats, AnUnknownFileIsAnsweredByTheKnownFormatsAndItsContents) {
  const std::string sentence = refusal({file("x.yaml", "exposure: 3\ngain: 2\nlens:\n  mount: c\n")});
  for (const char* part :
       {"exposure, gain, lens", "Middlebury", "KITTI", "OpenCV", "ROS", "Kalibr", "EuRoC", "ZED", "COLMAP"})
    EXPECT_TRUE(contains(sentence, part)) << sentence;
  std::string many;
  for (int i = 0; i < 30; ++i) many += text("name", i, ": 1\n");
  EXPECT_TRUE(contains(refusal({file("y.yaml", many)}), "and 22 more"));
  const std::string text_only = refusal({file("notes.txt", "Our rig was calibrated in May.\n")});
  EXPECT_TRUE(contains(text_only, "begins with 'Our rig was") && contains(text_only, "Kalibr")) << text_only;
  EXPECT_TRUE(contains(refusal({file("empty.json", "{}")}), "holds no values"));
  EXPECT_TRUE(contains(refusal({file("list.json", "[]")}), "holds no values"));
  EXPECT_TRUE(contains(refusal({file("z.yaml", "a: &n 1\nb: *n\n")}), "alias"));
}

TEST_F(CalibrationFormats, OfTwoFilesNoneMayBeAWholeCalibration) {
  Rig rig;
  rig.focal = rig.baseline = 100;
  rig.size = {120, 90};
  for (const char* name : {"one.yml", "two.yml"}) write_rig(folder_ / name, rig);
  const fs::path opencv = folder_ / "one.yml",
                 middlebury = file("calib.txt",
                                   "cam0=[100 0 60; 0 100 45; 0 0 1]\ncam1=[100 0 60; 0 100 45; 0 0 1]\n"
                                   "doffs=0\nbaseline=100\nwidth=120\nheight=90\n");
  const auto refused = [&](const std::vector<fs::path>& files) { return refusal(files, {}, ErrorCategory::call); };
  EXPECT_TRUE(contains(refused({opencv, middlebury}), "the second file is already a whole calibration"));
  EXPECT_TRUE(contains(refused({middlebury, opencv}), "the first file is already a whole calibration"));
  EXPECT_TRUE(contains(refused({opencv, folder_ / "two.yml"}), "both files hold"));
}

TEST_F(CalibrationFormats, EveryFormatNamesItsSource) {
  EXPECT_GE(io::calibration_formats().size(), 13U);
  for (const io::CalibrationFormat& format : io::calibration_formats()) {
    EXPECT_GT(std::string(format.source).size(), 10U) << format.name;
    EXPECT_GT(std::string(format.signature).size(), 3U) << format.name;
  }
}

TEST_F(CalibrationFormats, AScaleAppliesToEveryLengthInPixels) {
  CalibrationOptions half;
  half.scale = 0.5;
  const auto path = file("a.yaml", kalibr("radtan", radtan, rows_of("T_cn_cnm1", right_from_left)));
  const auto whole = read({path}), scaled = read({path}, half);
  EXPECT_EQ(scaled.cameras->size, (Size{160, 120}));
  EXPECT_EQ(scaled.rig.size, (Size{160, 120}));
  EXPECT_EQ(scaled.cameras->left.lens.fx, 150);
  EXPECT_EQ(scaled.cameras->left.lens.cx, 79.5);  // (159.5 + ½) / 2 − ½
  EXPECT_EQ(scaled.cameras->left.lens.distortion, whole.cameras->left.lens.distortion);
  EXPECT_DOUBLE_EQ(scaled.rig.focal, whole.rig.focal / 2);
  EXPECT_EQ(scaled.rig.baseline, whole.rig.baseline);
  half.scale = 0;
  EXPECT_THROW(read({path}, half), Error);
  EXPECT_EQ(calibration_scale({1280, 960}, {320, 240}), 0.25);
  EXPECT_FALSE(calibration_scale({1280, 960}, {320, 200}).has_value());
}

TEST_F(CalibrationFormats, ARigForImagesOfAnotherSizeIsWarnedOf) {
  const Rig rig{1200, 638, 687.6, 478, 120, "mm", {1280, 960}};
  EXPECT_TRUE(calibration_warnings(rig, {1280, 960}).empty());
  const auto smaller = calibration_warnings(rig, {640, 480}, 2);
  ASSERT_EQ(smaller.size(), 1U);
  EXPECT_TRUE(contains(smaller[0], "1280×960") && contains(smaller[0], "640×480")) << smaller[0];
  EXPECT_TRUE(contains(smaller[0], "--calib-scale 1 ")) << smaller[0];
  const auto cropped = calibration_warnings(rig, {1280, 900});
  ASSERT_EQ(cropped.size(), 1U);
  EXPECT_FALSE(contains(cropped[0], "--calib-scale")) << cropped[0];
}

TEST_F(CalibrationFormats, APrincipalPointOutsideTheImageIsWarnedOf) {
  const Rig rig{1200, 638, 687.6, 478, 120, "mm", {}};
  const auto warnings = calibration_warnings(rig, {320, 240});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[0], "(638, 478)") && contains(warnings[0], "--calib-scale 0.25")) << warnings[0];
  EXPECT_TRUE(calibration_warnings(rig, {1280, 960}).empty());
  const auto too_large = calibration_warnings(rig, {320, 240}, 0.5);
  EXPECT_TRUE(contains(too_large.at(0), "--calib-scale 0.13 or the like")) << too_large[0];
  const auto left_of_image = calibration_warnings(Rig{300, -20, -20, 119, 120, "mm", {}}, {320, 240});
  ASSERT_EQ(left_of_image.size(), 1U);
  EXPECT_TRUE(contains(left_of_image[0], "(-20, 119)") && !contains(left_of_image[0], "--calib-scale"));
  const auto millimetres = calibration_warnings(Rig{3.6, 638, 638, 478, 120, "mm", {}}, {1280, 960});
  ASSERT_EQ(millimetres.size(), 1U);
  EXPECT_TRUE(contains(millimetres[0], "focal length is 3.6")) << millimetres[0];
}

TEST_F(CalibrationFormats, ContradictionsAndImplausibleUnitsAreWarnedOf) {
  const auto raw = read({file("a.yml", opencv_cameras(list(radtan) + ", 0"))});
  write_calibration(folder_ / "sound.yml", *raw.cameras);
  EXPECT_TRUE(read({folder_ / "sound.yml"}).warnings.empty());
  StereoCalibration wrong = *raw.cameras;
  for (double& t : wrong.translation) t *= 1000;
  write_calibration(folder_ / "units.yml", wrong);
  auto warnings = read({folder_ / "units.yml"}).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[0], "119.9") && contains(warnings[0], "0.12 by P2")) << warnings[0];
  wrong = *raw.cameras;
  wrong.rotation = rotation_by({0, 0.15, 0});
  write_calibration(folder_ / "stale.yml", wrong);
  warnings = read({folder_ / "stale.yml"}).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[0], "9.7") && contains(warnings[0], "stale.yml: R and T contradict")) << warnings[0];

  warnings = read({file("l.yaml", ros_file("", radtan, 0)), file("r.yaml", ros_file("", radtan, -13920))}).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[0], "the baseline is 120 m")) << warnings[0];
}

TEST_F(CalibrationFormats, EveryTruncationIsReadOrRefused) {
  const std::string texts[] = {opencv_cameras(list(radtan) + ", 0"),
                               kalibr("radtan", radtan, rows_of("T_cn_cnm1", right_from_left)),
                               zed("VGA") + "[STEREO]\nBaseline=120\nRX_VGA=0.01\n"};
  CalibrationOptions options;
  options.size = {320, 240};
  for (const std::string& whole : texts)
    for (std::size_t length = 0; length < whole.size(); length += 3) try {
        EXPECT_GT(read({file("cut", whole.substr(0, length))}, options).rig.focal, 0);
      } catch (const Error& error) {
        EXPECT_NE(error.category(), ErrorCategory::file) << error.what();
      }
}

}  // namespace
}  // namespace stereopsis::calibration_formats_test
