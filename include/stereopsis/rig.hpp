// A calibrated, rectified rig: what turns disparity into metres.
#pragma once

#include <array>
#include <string>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Where points are.
enum class Frame {
  optical,  // x right, y down, z forward; the origin is the left camera's centre
  head,     // x forward, y left, z up; the origin is the middle of the baseline (Prehn 2007, equations 2.5 to 2.9)
};

// Z = focal · baseline / (d − (cx_left − cx_right)), with d = x_left − x_right. Pixel centres are at whole coordinates.
struct Rig {
  double focal = 0;     // pixels
  double cx_left = 0;   // principal points, pixels
  double cx_right = 0;  // likewise
  double cy = 0;        // of both, pixels
  double baseline = 0;  // in `unit`, positive
  std::string unit;     // "mm", "m", or "" where the file does not say
  Size size;            // of the images; 0×0 where the file does not say

  // Z in `unit`, of a disparity in pixels.
  double depth(double disparity) const { return focal * baseline / (disparity - (cx_left - cx_right)); }
  // The inverse.
  double disparity(double depth) const { return focal * baseline / depth + (cx_left - cx_right); }
  // What an error of the disparity, in pixels, does to the depth, to first order: Z² / (focal · baseline) · Δd.
  double depth_uncertainty(double depth, double disparity_error) const {
    return depth * depth / (focal * baseline) * disparity_error;
  }
  // The point that the left image shows at (x, y).
  std::array<double, 3> point(double x, double y, double disparity, Frame frame = Frame::optical) const;
  // The integers that cover all depths from `near` to `far` (in `unit`). Throws Error(call).
  DisparityRange range(double near, double far) const;
};

// OpenCV's Q, row after row: (X Y Z W)ᵀ = Q·(x y d 1)ᵀ with d = x_left − x_right positive in front, so that
// Q(3, 2) = 1 / baseline is positive and Q(3, 3) = −(cx_left − cx_right) / baseline.
std::array<double, 16> reprojection_of(const Rig& rig);
// The inverse; unit and size are not in it. Throws Error(format) for a matrix that no rig of cameras side by side has,
// one with the cameras swapped or the disparity's sign turned round (a negative Q(3, 2)) among them.
Rig rig_of_reprojection(const std::array<double, 16>& q);

}  // namespace stereopsis
