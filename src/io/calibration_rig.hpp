// From the text of calibration files to a rig; read_rig() puts the file's name in front of what they throw.
#pragma once

#include "io/calibration_document.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::io {

// One camera of a pair, as ROS's camera_info has it.
struct Camera {
  std::vector<double> projection;  // 3×4, row after row
  Size size;
};

bool is_camera_info(const Document& file);
Camera camera_of(const Document& file);

// A file that describes both cameras.
Rig rig_of(const Document& file, KittiPair pair);
Rig rig_of(const Camera& left, const Camera& right);

}  // namespace stereopsis::io
