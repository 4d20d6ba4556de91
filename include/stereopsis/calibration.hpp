// The files that describe a calibrated pair of cameras.
#pragma once

#include <filesystem>
#include <optional>

#include "stereopsis/rectification.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// A KITTI file describes two rigs: P0 and P1 (grey images) and P2 and P3 (colour images).
// any: colour where the file has it, else grey; grey_first: the other way round.
enum class KittiPair { any, grey_first, grey, colour };

// Middlebury calib.txt, KITTI calib.txt (P0/P1 or P2/P3), OpenCV YAML or XML with P1 and P2 or Q, or a
// pair of ROS camera_info YAML files (pass the left one and the right one). Told apart by contents.
// Throws Error(file), Error(format) for contents that make no rig, Error(call) for a second file that is missing or
// not wanted.
Rig read_rig(const std::filesystem::path& file, const std::optional<std::filesystem::path>& right = {},
             KittiPair pair = KittiPair::any);

// The cameras as they are, for rectification: OpenCV YAML or XML with M1, D1, M2, D2 (or K1, D1, …; cameraMatrix1,
// distCoeffs1, …), R1, R2, P1 and P2, in one file or, as OpenCV's sample writes them, in two (extrinsics, intrinsics); a
// pair of ROS camera_info files; KITTI's calib_cam_to_cam.txt with K, D, R_rect and P_rect. OpenCV's files need the
// images' size: image_width and image_height, or imageSize; without, `size` is taken. Throws as read_rig, and
// Error(format) for a file of rectified images alone, such as Middlebury's.
StereoCalibration read_calibration(const std::filesystem::path& file,
                                   const std::optional<std::filesystem::path>& second = {},
                                   KittiPair pair = KittiPair::any, Size size = {});

// .yml, .yaml or .xml as OpenCV writes them, with all that both readers take: image_width, image_height, unit,
// M1, D1, M2, D2, R, T, R1, R2, P1, P2 and Q. A rig alone is written as P1, P2 and Q.
void write_calibration(const std::filesystem::path& file, const StereoCalibration& calibration);
void write_rig(const std::filesystem::path& file, const Rig& rig);
// A pair of ROS camera_info files; lengths become metres. Throws Error(call) for a rig whose unit is not known.
void write_camera_info(const std::filesystem::path& left, const std::filesystem::path& right,
                       const StereoCalibration& calibration);

}  // namespace stereopsis
