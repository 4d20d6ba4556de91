// Refines or estimates the calibration of two cameras from ordinary pairs of images, without a board.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/length.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {

// A parameter of the cameras that scenes can correct.
struct RigTerm {
  const char* name;   // one of the names below, such as "pitch"
  const char* unit;   // "°", "%", "px" or ""
  double correction;  // difference from the given value, in `unit`
  double deviation;   // standard deviation of the corrected value, in `unit`
  bool is_observed;   // false if the scenes say hardly more about the value than that calibrations are usually good
};

// A refined calibration. Rotations are those of the right camera about its axes: `pitch` about x (rows move), `yaw` about
// y (disparities move), `roll` about z. The direction of the baseline, seen from the left camera, changes by `baseline_down`
// and `baseline_forward`. `focal_ratio` is that of the right to the left focal length, `row` the row of the right
// principal point, `k1_left` and `k1_right` the first radial coefficients of the lenses, and `focal` the focal length of
// both cameras. The length of the baseline stays as given, because images do not show it.
struct RigRefinement {
  StereoCalibration calibration;  // the corrected cameras, and their rectification
  std::vector<RigTerm> terms;     // the corrections of all terms that may change
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
// one depth, or if no correction fits. Throws Error(call) for images of another size than that of the calibration. The
// focal length of both cameras stays as given.
RigRefinement refine_rig(const StereoCalibration& cameras, std::size_t pairs, const ReadPair& read);

// Two cameras without a calibration, and the lengths that are known.
struct UnknownCameras {
  Size size;                       // size of the images
  std::optional<double> focal;     // focal length of both cameras in pixels
  std::optional<Length> baseline;  // distance between the cameras
};

// Estimates the cameras of pairs without a calibration, as refine_rig() refines them. The lenses must be equal and have
// little distortion; the principal points are placed in the middle. Without a focal length, the estimate begins at 0.9
// times the longer side of the image, and the term `focal` says whether the scenes show it; if not, the other deviations
// hold for this focal length. Without a baseline, its length is 1 and its unit `no_scale`. Throws Error(format) as
// refine_rig() does, if the camera moved forwards, and if the second camera is not to the right of the first; Error(call)
// for lengths that are not positive.
RigRefinement estimate_rig(const UnknownCameras& cameras, std::size_t pairs, const ReadPair& read);

// Returns the cameras of a rectified pair, so that refine_rig() can correct a rectification whose raw cameras are unknown.
// Throws Error(call) for a rig without a size.
StereoCalibration cameras_of(const Rig& rig);

}  // namespace stereopsis
