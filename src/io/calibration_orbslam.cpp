// Reader of the settings of ORB-SLAM2 and ORB-SLAM3 for stereo cameras. Lengths are in metres.
#include <array>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/tokens.hpp"

namespace stereopsis::io {
namespace {

constexpr const char* pose_name = "Stereo.T_c1_c2.data";

// ORB-SLAM3 numbers the cameras; ORB-SLAM2 describes only the left one of a rectified pair.
std::string first_camera(const Document& file) { return file.has("Camera1.fx") ? "Camera1." : "Camera."; }

std::array<double, 4> matrix_of_camera(const Document& file, const std::string& camera) {
  const auto number = [&](const char* name) { return file.number(camera + name); };
  return {number("fx"), number("fy"), number("cx"), number("cy")};
}

Lens lens_of_camera(const Document& file, const std::string& camera) {
  const bool fisheye = file.word("Camera.type") == "KannalaBrandt8";
  const auto number = [&](const char* name) { return file.number_or(camera + name, 0); };
  const std::vector<double> d = fisheye
                                    ? std::vector{number("k1"), number("k2"), number("k3"), number("k4")}
                                    : std::vector{number("k1"), number("k2"), number("p1"), number("p2"), number("k3")};
  return lens_of(matrix_of_camera(file, camera), fisheye ? Lens::Model::fisheye : Lens::Model::polynomial, d,
                 camera + "k1");
}

// T_c1_c2 is the motion from the right camera to the left one.
CalibrationFile raw_pair(const Inputs& inputs) {
  const Document& file = inputs.first();
  RawPair pair;
  pair.left = lens_of_camera(file, "Camera1.");
  pair.right = lens_of_camera(file, "Camera2.");
  pair.size = size_under(file, "Camera.width", "Camera.height");
  if (pair.size == Size{}) pair.size = size_of_images(inputs);
  pair.right_from_left = pose_of(file, pose_name).inverse();
  pair.unit = "m";
  return computed_left_first(pair);
}

double baseline_of(const Document& file, double fx) {
  if (file.has("Stereo.b")) return file.number("Stereo.b");
  if (file.has("Camera.bf")) return file.number("Camera.bf") / fx;
  refuse(
      "the settings describe one camera; a stereo calibration must also have Camera.bf (focal length × baseline), "
      "Stereo.b or Stereo.T_c1_c2");
}

// Distortion is 0 in settings of rectified pairs.
std::vector<std::string> distortion_warnings(const Document& file, const std::string& camera) {
  const std::string name = camera + "k1";
  if (file.number_or(name, 0) == 0) return {};
  return {text(name, " is ", number_text(file.number(name)),
               ", but the settings describe a rectified pair, whose images have no distortion; rectify the images with "
               "the calibration of the raw cameras")};
}

}  // namespace

bool is_orbslam(const Inputs& inputs) { return inputs.first().has(first_camera(inputs.first()) + "fx"); }

CalibrationFile read_orbslam(const Inputs& inputs) {
  const Document& file = inputs.first();
  if (file.has(pose_name)) return raw_pair(inputs);
  const std::string camera = first_camera(file);
  const auto k = matrix_of_camera(file, camera);
  Rig rig;
  rig.focal = k[0];
  rig.cx_left = rig.cx_right = k[2];
  rig.cy = k[3];
  rig.baseline = baseline_of(file, k[0]);
  rig.unit = "m";
  rig.size = size_under(file, "Camera.width", "Camera.height");
  CalibrationFile found = rectified(checked(rig), []() -> StereoCalibration {
    refuse("these settings of ORB-SLAM describe only rectified images; leave --raw out");
  });
  found.warnings = distortion_warnings(file, camera);
  return found;
}

}  // namespace stereopsis::io
