// A calibrated, rectified rig, which converts disparity to metric depth.
#pragma once

#include <array>
#include <string>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// The coordinate frame of points.
enum class Frame {
  optical,  // x right, y down, z forward; the origin is the left camera's centre
  head,     // x forward, y left, z up; the origin is the middle of the baseline (Prehn 2007, equations 2.5 to 2.9)
};

// The unit of a rig whose baseline is not known: its lengths are multiples of the baseline.
inline constexpr const char* no_scale = "baselines";

// A rectified pair of cameras: Z = focal · baseline / (d − (cx_left − cx_right)), with d = x_left − x_right. Pixel
// centres are at integer coordinates.
struct Rig {
  double focal = 0;     // focal length, pixels
  double cx_left = 0;   // x of the left principal point, pixels
  double cx_right = 0;  // x of the right principal point, pixels
  double cy = 0;        // y of both principal points, pixels
  double baseline = 0;  // length of the baseline, in `unit`; > 0
  std::string unit;     // "mm", "m", `no_scale`, or "" if the file does not state it
  Size size;            // size of the images; 0×0 if the file does not state it

  // Returns the depth Z, in `unit`, for a disparity in pixels.
  double depth(double disparity) const { return focal * baseline / (disparity - (cx_left - cx_right)); }
  // Inverts depth().
  double disparity(double depth) const { return focal * baseline / depth + (cx_left - cx_right); }
  // Returns the depth error that a disparity error, in pixels, causes, to first order: Z² / (focal · baseline) · Δd.
  double depth_uncertainty(double depth, double disparity_error) const {
    return depth * depth / (focal * baseline) * disparity_error;
  }
  // Returns the point that is visible at (x, y) of the left image.
  std::array<double, 3> point(double x, double y, double disparity, Frame frame = Frame::optical) const;
  // Returns the search range that covers all depths from `near` to `far` (in `unit`). Throws Error(call) for depths
  // that are not positive or not in order.
  DisparityRange range(double near, double far) const;
};

// Returns OpenCV's Q, row by row: (X Y Z W)ᵀ = Q·(x y d 1)ᵀ. The disparity d = x_left − x_right is positive in front of
// the cameras, so that Q(3, 2) = 1 / baseline is positive and Q(3, 3) = −(cx_left − cx_right) / baseline.
std::array<double, 16> reprojection_of(const Rig& rig);
// Returns the rig for OpenCV's Q, without unit and size. Throws Error(format) if Q does not belong to a rig of cameras
// side by side. Exchanged cameras and the opposite sign of the disparity (a negative Q(3, 2)) are such cases.
Rig rig_of_reprojection(const std::array<double, 16>& q);

}  // namespace stereopsis
