// Converts parsed calibration files to rigs, for read_rig(), which prepends the file's name to their errors.
#pragma once

#include "io/calibration_document.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::io {

// One camera of a pair, as in a ROS camera_info file.
struct Camera {
  std::vector<double> projection;  // 3×4, row by row
  Size size;
};

bool is_camera_info(const Document& file);
Camera camera_of(const Document& file);

// Return the rig described by one file, or by one file per camera.
Rig rig_of(const Document& file, KittiPair pair);
Rig rig_of(const Camera& left, const Camera& right);

// Return the unrectified cameras from one file, or from two: ROS's left and right file, or OpenCV's extrinsics and
// intrinsics. `size` is the image size to use if the file has none.
StereoCalibration calibration_of(const Document& file, KittiPair pair, Size size);
StereoCalibration calibration_of(const Document& first, const Document& second, Size size);

// Helpers shared by the readers of rigs and of unrectified cameras.
bool is_kitti(const Document& file);
// Returns "P_rect_02" if the file has it, else "P2" or "row 3".
std::string kitti_name(const Document& file, int camera);
// Returns the number of the pair's left camera: 0 or 2.
int kitti_camera(const Document& file, KittiPair pair);
// Returns the image size before or after rectification, or 0×0 if the file has none.
Size opencv_size(const Document& file);
std::string opencv_unit(const Document& file);
Size size_of(double width, double height);

}  // namespace stereopsis::io
