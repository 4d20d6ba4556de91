// Computes the rectification of two calibrated cameras, for calibration files that lack it.
#pragma once

#include <string>

#include "geometry/rotations.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {

// Two calibrated cameras without a rectification.
struct RawPair {
  Size size;  // size of the images of both cameras
  Lens left, right;
  Pose right_from_left;  // X_right = rotation · X_left + translation
  std::string unit;      // unit of the translation
};

// Rectifies as OpenCV's stereoRectify does with CALIB_ZERO_DISPARITY and alpha = 0 (Bouguet's method): each camera turns
// by half of the rotation between them, the rows are laid along the baseline, both principal points are equal, and the
// focal length is the shortest with which every rectified pixel has a source, but at least a third of the cameras'.
// Throws Error(format) for cameras that are not side by side.
StereoCalibration stereo_rectified(const RawPair& pair);

// Returns how far the corners and the centre of the images move in the rectification, in pixels.
double largest_shift(const StereoCalibration& calibration);

}  // namespace stereopsis
