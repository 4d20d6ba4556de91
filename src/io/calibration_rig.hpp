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

// The unrectified cameras of one file, or of two: ROS's left and right one, OpenCV's extrinsics and intrinsics.
// `size` is the images' where the file does not say.
StereoCalibration calibration_of(const Document& file, KittiPair pair, Size size);
StereoCalibration calibration_of(const Document& first, const Document& second, Size size);

// The parts that both readings share.
bool is_kitti(const Document& file);
// "P_rect_02" where the file has that, else "P2" or "row 3".
std::string kitti_name(const Document& file, int camera);
// Of the left camera of the pair: 0 or 2.
int kitti_camera(const Document& file, KittiPair pair);
// 0×0 where the file does not say; of the images before or after rectification.
Size opencv_size(const Document& file);
std::string opencv_unit(const Document& file);
Size size_of(double width, double height);

}  // namespace stereopsis::io
