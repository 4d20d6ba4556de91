// Fits the parameters of two cameras to points of their images: robust Gauss-Newton steps over the distances of points from
// their epipolar lines, so that the points themselves are eliminated. refine_rig() uses it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numbers>
#include <vector>

#include "geometry/lens.hpp"
#include "geometry/stereo_rectify.hpp"
#include "sparse/normal_equations.hpp"

namespace stereopsis::epipolar {

using sparse::Matrix, sparse::Vector;

inline constexpr std::size_t terms = 10;
inline constexpr double degree = std::numbers::pi / 180;

// The name, the unit, its size, and the standard deviations of the errors of given calibrations and of cameras of which
// nothing is known, in the unit. Images do not show the focal length of both cameras if they look in one direction.
struct Kind {
  const char *name, *unit;
  double size, given, unknown;
};
enum Term { pitch, yaw, roll, down, forward, ratio, row, k1_left, k1_right, focal };
inline constexpr double kept = 1e-9;  // deviation of a term that does not change
inline constexpr std::array<Kind, terms> kinds = {{{"pitch", "°", degree, 3, 20},
                                                   {"yaw", "°", degree, 3, 20},
                                                   {"roll", "°", degree, 3, 20},
                                                   {"baseline_down", "°", degree, 0.5, 20},
                                                   {"baseline_forward", "°", degree, 0.5, 20},
                                                   {"focal_ratio", "%", 0.01, 2, 1},
                                                   {"row", "px", 1, 0.02, 0.02},
                                                   {"k1_left", "", 1, 0.02, 0.05},
                                                   {"k1_right", "", 1, 0.02, 0.05},
                                                   {"focal", "%", 0.01, 0, 20}}};

// Returns the standard deviations of the terms, as the fit counts them.
inline Vector<terms> usual(double Kind::*errors) {
  Vector<terms> all;
  for (std::size_t i = 0; i < terms; ++i) all[i] = std::max(kinds[i].*errors * kinds[i].size, kept);
  return all;
}

// A point in the raw images of a pair.
struct Point {
  std::array<double, 2> left, right;
  double deviation;  // standard deviation of the difference of its rows, in pixels
  std::size_t pair;
};

// The cameras whose parameters change. `centre` is that of the right camera, in the left camera's frame.
struct Cameras {
  Lens left, right;
  InverseLens left_ray, right_ray;
  Matrix3 rotation;
  Vector3 centre;
  std::array<Vector3, 2> across;  // directions of the left camera's frame across the baseline: down, and forward

  explicit Cameras(const StereoCalibration& c);
  // Sets the pose of the right camera.
  void place(const Matrix3& by, const Vector3& at);
  void move(const Vector<terms>& by);
  Vector3 moved_centre(const Vector<terms>& by) const;
  // Returns the calibration of these cameras, for images of the size of `given`.
  StereoCalibration rectified(const StereoCalibration& given) const;
};

// Returns the terms by which `found` differs from `given`.
Vector<terms> correction(const Cameras& given, const Cameras& found);
// Returns the distance, in pixels, of the right point from the epipolar line of the left one.
double distance(const Cameras& cameras, const Point& point);
// Returns the derivatives of the distance by the terms.
Vector<terms> derivatives(const Cameras& cameras, const Point& point);
// Returns the median size of these distances, in pixels.
double median_distance(const Cameras& cameras, const std::vector<Point>& points);

class Fit {
 public:
  // Terms deviate from those of `start` by `usual`.
  Fit(const StereoCalibration& start, const Vector<terms>& usual) : cameras_(start), size_(start.size), usual_(usual) {}

  void solve(const std::vector<Point>& points, std::size_t pairs);
  const Cameras& cameras() const { return cameras_; }
  // Returns the covariance of the corrections. Errors of the points are related, so that the differences between pairs
  // and between parts of the image count, too.
  Matrix<terms> covariance(std::size_t pairs) const;

 private:
  Vector<terms> step(const std::vector<Point>& points, std::size_t pairs);
  std::size_t part_of(const Point& point) const;
  Matrix<terms> with_prior(Matrix<terms> information) const;

  Cameras cameras_;
  Size size_;  // size of the raw images
  Vector<terms> usual_;
  Vector<terms> sum_{};
  Matrix<terms> information_{};    // information of the points, as if their errors were independent
  Matrix<terms> between_pairs_{};  // covariance of the gradients, as the differences between pairs show it
  Matrix<terms> of_shared_{};      // covariance of the gradients by errors that the points of one part share
};

}  // namespace stereopsis::epipolar
