// Refines the calibration of two cameras from ordinary pairs of images, without a board.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {

// A parameter of the cameras that scenes can correct.
struct RigTerm {
  const char* name;   // one of the nine names below, such as "pitch"
  const char* unit;   // "°", "%", "px" or ""
  double correction;  // difference from the given value, in `unit`
  double deviation;   // standard deviation of the corrected value, in `unit`
  bool is_observed;   // false if the scenes say hardly more about the value than that calibrations are usually good
};

// A refined calibration. Rotations are those of the right camera about its axes: `pitch` about x (rows move), `yaw` about
// y (disparities move), `roll` about z. The direction of the baseline, seen from the left camera, changes by `baseline_down`
// and `baseline_forward`. `focal_ratio` is that of the right to the left focal length, `row` the row of the right
// principal point, `k1_left` and `k1_right` the first radial coefficients of the lenses. The length of the baseline and
// the common focal length stay as given, because images do not show them.
struct RigRefinement {
  StereoCalibration calibration;  // the corrected cameras, and their rectification
  std::vector<RigTerm> terms;     // the nine corrections
  std::size_t pairs = 0;          // pairs with points
  std::size_t points = 0;         // points that were found in both images of a pair
  double rows_before = 0;         // median difference between the rows of a point with the given calibration, in pixels
  double rows_after = 0;          // median difference with the corrected calibration
  double rows_deviation = 0;      // standard deviation of the rows that the correction predicts, in pixels
  double disparity_deviation = 0;  // standard deviation of all disparities together, which the yaw causes, in pixels

  // Returns two sentences: by how much the rows differed before and after, and which terms could not be observed.
  std::string sentence() const;
};

// A function that takes both raw images of a pair.
using UsePair = std::function<void(const AnyImageView& left, const AnyImageView& right)>;
// A function that calls `use` with the images of pair i. refine_rig() reads each pair twice.
using ReadPair = std::function<void(std::size_t i, const UsePair& use)>;

// Refines `cameras` from `pairs` raw pairs, or from 50 of them, by robust least squares over the distances of points from
// their epipolar lines. Throws Error(format) if the scenes do not determine the rows: if there are few points, if all have
// one depth, or if no correction fits. Throws Error(call) for images of another size than that of the calibration.
RigRefinement refine_rig(const StereoCalibration& cameras, std::size_t pairs, const ReadPair& read);

// Returns the cameras of a rectified pair, so that refine_rig() can correct a rectification whose raw cameras are unknown.
// Throws Error(call) for a rig without a size.
StereoCalibration cameras_of(const Rig& rig);

}  // namespace stereopsis
