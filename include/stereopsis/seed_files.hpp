// Reads the files of other sensors that give seeds (stereopsis/seeds.hpp); part of stereopsis::io.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "stereopsis/calibration.hpp"
#include "stereopsis/pose.hpp"

namespace stereopsis {

// Reads points: .ply (all of its formats), .pcd (ascii, binary, binary_compressed), or .bin with four 32-bit floats a
// point (x, y, z and the reflectance), as KITTI has them. Points that are not finite are left out. Throws Error(file), and
// Error(format) for contents that are no such points.
std::vector<std::array<float, 3>> read_points(const std::filesystem::path& file);

// Reads the pose of a sensor: X_left = rotation · X + translation. A text has the 3×4 or 4×4 matrix row by row (12 or 16
// numbers), or is a calib.txt of KITTI odometry with a line `Tr`; then the pose is that of the left camera of `pair`.
// Throws Error(file) and Error(format).
Pose read_pose(const std::filesystem::path& file, KittiPair pair = KittiPair::any);

// Reads the poses of a camera, one line of 12 numbers for each frame, as KITTI odometry has them: X_world = rotation ·
// X_camera + translation. Throws Error(file) and Error(format).
std::vector<Pose> read_poses(const std::filesystem::path& file);

// Reads optical flow, 2 channels: .flo (Middlebury), 16-bit RGB .png (KITTI), or .npy of the shape (height, width, 2); NaN
// where unknown. Throws Error(file) and Error(format).
Image<float> read_flow(const std::filesystem::path& file);

}  // namespace stereopsis
