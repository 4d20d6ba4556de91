// Reads and writes files that describe a calibrated pair of cameras.
#pragma once

#include <filesystem>
#include <optional>

#include "stereopsis/rectification.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// The choice between a KITTI file's two rigs: P0 and P1 (grey images), or P2 and P3 (colour images). any: colour if the
// file has it, else grey; grey_first: the other way round.
enum class KittiPair { any, grey_first, grey, colour };

// Reads a rig from a Middlebury calib.txt, a KITTI calib.txt (P0/P1 or P2/P3), an OpenCV YAML or XML file with P1 and
// P2 or Q, or a pair of ROS camera_info YAML files (the left one and the right one). The contents determine the format.
// Throws Error(file), Error(format) for contents that are not a rig, and Error(call) for a second file that is missing
// or superfluous.
Rig read_rig(const std::filesystem::path& file, const std::optional<std::filesystem::path>& right = {},
             KittiPair pair = KittiPair::any);

// Reads the unrectified cameras, for rectification. Supports OpenCV YAML or XML with M1, D1, M2, D2 (or K1, D1, …;
// cameraMatrix1, distCoeffs1, …), R1, R2, P1 and P2, in one file or, as OpenCV's sample writes them, in two
// (extrinsics, intrinsics); a pair of ROS camera_info files; and KITTI's calib_cam_to_cam.txt with K, D, R_rect and
// P_rect. OpenCV's files need the size of the images, image_width and image_height or imageSize; if it is missing,
// `size` is used. Throws as read_rig, and Error(format) for a file that describes only rectified images, such as
// Middlebury's.
StereoCalibration read_calibration(const std::filesystem::path& file,
                                   const std::optional<std::filesystem::path>& second = {},
                                   KittiPair pair = KittiPair::any, Size size = {});

// Writes .yml, .yaml or .xml files as OpenCV does, with everything that both readers need: image_width, image_height,
// unit, M1, D1, M2, D2, R, T, R1, R2, P1, P2 and Q. A rig alone is written as P1, P2 and Q.
void write_calibration(const std::filesystem::path& file, const StereoCalibration& calibration);
void write_rig(const std::filesystem::path& file, const Rig& rig);
// Writes a pair of ROS camera_info files; lengths are converted to metres. Throws Error(call) for a rig whose unit is
// unknown.
void write_camera_info(const std::filesystem::path& left, const std::filesystem::path& right,
                       const StereoCalibration& calibration);

}  // namespace stereopsis
