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

// Rectifies as OpenCV's stereoRectify does with CALIB_ZERO_DISPARITY and alpha = `zoom` (Bouguet's method). Each camera
// turns by half of the rotation between the cameras, the rows are parallel to the baseline, and both principal points
// are equal. With `zoom` = 0, the focal length is the shortest one with which every rectified pixel has a source, but at
// least a third of the cameras' focal length. With `zoom` = 1, it is the longest one with which the rectified images show
// all pixels. Throws Error(format) for cameras that are not side by side.
StereoCalibration stereo_rectified(const RawPair& pair, double zoom = 0);

// Lengthens the focal length of the rectified images until every pixel has a source: stereo_rectified() looks only at the
// borders of the images.
void close_gaps(StereoCalibration& calibration);

// Returns the largest distance, in pixels, by which rectification moves the corners and the centre of an image.
double largest_shift(const StereoCalibration& calibration);

}  // namespace stereopsis
