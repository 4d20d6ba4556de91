// Computes the rectification of two calibrated cameras, for calibration files without a rectification.
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

// Returns whether the second camera is above or below the first, and not beside it.
bool is_vertical(const Pose& second_from_first);

// Rectifies as OpenCV's stereoRectify does with CALIB_ZERO_DISPARITY and alpha = 0 (Bouguet's method). Each camera
// turns by half of the rotation between the cameras, the rows are parallel to the baseline, and both principal points
// are equal. The focal length is the shortest one with which every rectified pixel has a source, but at least a third
// of the cameras' focal length. Throws Error(format) for cameras that are not side by side.
StereoCalibration stereo_rectified(const RawPair& pair);

// Returns the largest distance, in pixels, by which rectification moves the corners and the centre of an image.
double largest_shift(const StereoCalibration& calibration);

}  // namespace stereopsis
