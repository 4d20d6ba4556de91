// The cameras of a pair, from two CameraInfo messages.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <sensor_msgs/msg/camera_info.hpp>
#include <string>

#include "stereopsis/rectification.hpp"
#include "stereopsis/registration.hpp"

namespace stereopsis_ros {

using Info = sensor_msgs::msg::CameraInfo::ConstSharedPtr;

// Cameras in metres. Images of one object share a plan.
struct Cameras {
  stereopsis::Size size;  // size of the images
  stereopsis::Rig rig;    // rectified
  // Cameras of raw images; empty if the images are rectified.
  std::optional<stereopsis::StereoCalibration> calibration;
  std::shared_ptr<const stereopsis::RectificationMaps> maps;
};

// Converts CameraInfo messages with the library's reader of camera_info files, and remembers the last cameras.
class CameraReader {
 public:
  explicit CameraReader(bool is_raw) : is_raw_(is_raw) {}

  // Returns null for cameras that are not calibrated. Throws Error(format) for values that no rig can have.
  std::shared_ptr<const Cameras> read(const sensor_msgs::msg::CameraInfo& left,
                                      const sensor_msgs::msg::CameraInfo& right);

 private:
  bool is_raw_;
  std::map<std::array<std::string, 2>, std::shared_ptr<const Cameras>> known_;
};

// Returns what is wrong with the projection matrices, from which the baseline follows; empty if nothing is.
std::string fault_of_projections(const sensor_msgs::msg::CameraInfo& left, const sensor_msgs::msg::CameraInfo& right);

// Returns the rectified left camera.
stereopsis::PosedCamera rectified_camera(const stereopsis::Rig& rig, stereopsis::Size size);
// Returns the CameraInfo of a camera that is not rectified further, without a header.
sensor_msgs::msg::CameraInfo info_of(const stereopsis::PosedCamera& camera);

}  // namespace stereopsis_ros
