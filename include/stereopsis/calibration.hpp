// A calibrated, rectified rig, and the files that describe one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Z = focal · baseline / (d − (cx_left − cx_right)), with d = x_left − x_right.
struct Rig {
  double focal = 0;     // pixels
  double cx_left = 0;   // principal points, pixels
  double cx_right = 0;
  double cy = 0;
  double baseline = 0;  // in `unit`, positive
  std::string unit;     // "mm", "m", or "" where the file does not say
  Size size;            // of the images; 0×0 where the file does not say

  double depth(double disparity) const { return focal * baseline / (disparity - (cx_left - cx_right)); }
  double disparity(double depth) const { return focal * baseline / depth + (cx_left - cx_right); }
  // The integers that cover all depths from `near` to `far` (in `unit`). Throws Error(call).
  DisparityRange range(double near, double far) const;
};

// A KITTI file describes two rigs: P0 and P1 (grey images) and P2 and P3 (colour images).
enum class KittiPair { any, grey, colour };  // any: colour where the file has it, else grey

// Middlebury calib.txt, KITTI calib.txt (P0/P1 or P2/P3), OpenCV YAML or XML with P1 and P2 or Q, or a
// pair of ROS camera_info YAML files (pass the left one and the right one). Told apart by contents.
// Throws Error(file), Error(format) for contents that make no rig, Error(call) for a second file that is missing or
// not wanted.
Rig read_rig(const std::filesystem::path& file, const std::optional<std::filesystem::path>& right = {},
             KittiPair pair = KittiPair::any);

}  // namespace stereopsis
