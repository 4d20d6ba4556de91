// The table of the formats of calibration files. `source` states where the format is described.
#include "io/calibration_formats.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

constexpr CalibrationFormat formats[] = {
    {"Middlebury", "cam0, cam1 and baseline", "vision.middlebury.edu/stereo/data/scenes2014; eth3d.net/documentation",
     false, is_middlebury, read_middlebury},
    {"Cityscapes camera.json", "intrinsic and extrinsic with baseline",
     "github.com/mcordts/cityscapesScripts, docs/csCalibration.pdf", false, is_cityscapes, read_cityscapes},
    {"ROS camera_info", "projection_matrix, or distortion_model, K and P, in each of two files",
     "wiki.ros.org/camera_calibration_parsers; sensor_msgs/CameraInfo", true, is_camera_info, read_camera_info},
    {"Kalibr camchain", "cam0 and cam1 with intrinsics", "github.com/ethz-asl/kalibr/wiki/yaml-formats", false,
     is_kalibr, read_kalibr},
    {"EuRoC sensor.yaml", "T_BS and intrinsics in each of two files",
     "projects.asl.ethz.ch/datasets, kmavvisualinertialdatasets", true, is_euroc, read_euroc},
    {"camodocal or VINS", "model_type in each of two files, with body_T_cam0 or transform",
     "github.com/hengli/camodocal, src/camera_models; github.com/HKUST-Aerial-Robotics/VINS-Fusion, config", true,
     is_camodocal, read_camodocal},
    {"ZED .conf", "[LEFT_CAM_HD], [RIGHT_CAM_HD] and [STEREO]",
     "github.com/stereolabs/zed-opencv-native, include/calibration.hpp", false, is_zed, read_zed},
    {"depthai EEPROM", "cameraData and stereoRectificationData",
     "github.com/luxonis/depthai-core, src/device/CalibrationHandler.cpp", false, is_depthai, read_depthai},
    {"MRPT", "[CAMERA_LEFT], [CAMERA_RIGHT] and [CAMERA_LEFT2RIGHT_POSE]",
     "docs.mrpt.org, mrpt::img::TStereoCamera; mrpt.org/MalagaUrbanDataset", false, is_mrpt, read_mrpt},
    {"RealSense", "fx, fy, ppx, ppy of left and right, with rotation and translation or a baseline",
     "github.com/IntelRealSense/librealsense, include/librealsense2/h/rs_types.h", false, is_realsense, read_realsense},
    {"COLMAP", "cameras.txt with rigs.txt or images.txt", "colmap.github.io/format.html, cameras.html", true, is_colmap,
     read_colmap},
    {"Agisoft XML", "chunk with sensors and cameras",
     "Metashape user manual, camera models; github.com/UTokyo-FieldPhenomics-Lab/EasyIDP", false, is_agisoft,
     read_agisoft},
    {"K.txt", "nine numbers of a camera matrix, and the baseline in metres",
     "github.com/NVlabs/FoundationStereo, readme.md", false, is_matrix_and_baseline, read_matrix_and_baseline},
    {"KITTI", "P0 to P3, or P_rect_00 to P_rect_03, or P_rect_ with two other labels, as in DrivingStereo",
     "cvlibs.net/datasets/kitti, readme.txt of the development kits; drivingstereo-dataset.github.io", false, is_kitti,
     read_kitti},
    {"OpenCV", "P1 and P2, Q, or M1, D1, M2, D2, R and T",
     "docs.opencv.org, calib3d and FileStorage; github.com/raulmur/ORB_SLAM2, Examples/Stereo", true, is_opencv,
     read_opencv},
    {"ORB-SLAM settings", "Camera.fx with Camera.bf, or Camera1.fx with Stereo.b or Stereo.T_c1_c2",
     "github.com/UZ-SLAMLab/ORB_SLAM3, Calibration_Tutorial.pdf; github.com/raulmur/ORB_SLAM2, Examples/Stereo", false,
     is_orbslam, read_orbslam},
};

const CalibrationFormat* format_of(const Inputs& inputs) {
  const auto found = std::find_if(std::begin(formats), std::end(formats),
                                  [&](const CalibrationFormat& format) { return format.matches(inputs); });
  return found == std::end(formats) ? nullptr : &*found;
}

// Describes the contents of an unknown file for the error message.
std::string contents_of(const Document& file) {
  if (file.rows() > 0) return text("text that begins with '", Tokens::printable(file.word("row 1"), 40), "'");
  constexpr std::size_t most = 8;
  std::vector<std::string> names = file.top_names();
  std::erase(names, "");  // The values of a list in JSON have no names.
  if (names.empty()) return "no values";
  const std::size_t count = names.size();
  names.resize(std::min(most, count));
  for (std::string& name : names) name = Tokens::printable(name, 40);
  return join(names, ", ") + (count > most ? text(" and ", count - most, " more") : "");
}

// Returns the format of a file that is a calibration of both cameras by itself, or null.
const CalibrationFormat* format_of_whole(const Inputs& file) {
  const CalibrationFormat* const format = format_of(file);
  if (format == nullptr || format->several) return nullptr;
  try {
    format->read(file);
    return format;
  } catch (const Error&) {  // a file that only resembles the format
    return nullptr;
  }
}

// Throws an Error if one of two files is a calibration of both cameras, so that the other one would have no effect.
void check_parts(const Inputs& inputs) {
  for (const Document& file : inputs.files) {
    const CalibrationFormat* whole = format_of_whole({{file}, inputs.options});
    if (whole == nullptr) continue;
    throw Error(ErrorCategory::call,
                text("the ", &file == &inputs.first() ? "first" : "second", " file is already a whole calibration (",
                     whole->name, "); leave one of the two files out"));
  }
}

[[noreturn]] void refuse_unknown(const Inputs& inputs) {
  std::string holds, known;
  for (const Document& file : inputs.files) holds += (holds.empty() ? "" : "; ") + contents_of(file);
  for (const CalibrationFormat& format : formats)
    known += text(known.empty() ? "" : ", ", format.name, " (", format.signature, ')');
  refuse(
      text("there is no stereo calibration of a known format in the file, which holds ", holds, "; known are ", known));
}

}  // namespace

const Document* Inputs::with(std::string_view name) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const Document& file) { return file.has(name); });
  return found == files.end() ? nullptr : &*found;
}

std::span<const CalibrationFormat> calibration_formats() { return formats; }

CalibrationFile calibration_in(const Inputs& inputs) {
  const CalibrationFormat* format = format_of(inputs);
  if (format == nullptr) refuse_unknown(inputs);
  if (inputs.is_pair()) check_parts(inputs);
  CalibrationFile file = format->read(inputs);
  file.format = format->name;
  return file;
}

}  // namespace stereopsis::io
