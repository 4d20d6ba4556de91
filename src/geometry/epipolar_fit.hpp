// Fits the parameters of two cameras to points of their images: robust Gauss-Newton steps over the distances of points from
// their epipolar lines, so that the points themselves are eliminated. refine_rig() uses it.
#pragma once

#include <array>
#include <cstddef>
#include <numbers>
#include <vector>

#include "geometry/stereo_rectify.hpp"
#include "sparse/normal_equations.hpp"

namespace stereopsis::epipolar {

using sparse::Matrix, sparse::Vector;

inline constexpr std::size_t terms = 9;
inline constexpr double degree = std::numbers::pi / 180;

// The name, the unit, its size, and the standard deviation of the given calibrations' errors, in the unit.
struct Kind {
  const char *name, *unit;
  double size, usual;
};
enum Term { pitch, yaw, roll, down, forward, ratio, row, k1_left, k1_right };
inline constexpr std::array<Kind, terms> kinds = {{{"pitch", "°", degree, 3},
                                                   {"yaw", "°", degree, 3},
                                                   {"roll", "°", degree, 3},
                                                   {"baseline_down", "°", degree, 0.5},
                                                   {"baseline_forward", "°", degree, 0.5},
                                                   {"focal_ratio", "%", 0.01, 2},
                                                   {"row", "px", 1, 0.02},
                                                   {"k1_left", "", 1, 0.02},
                                                   {"k1_right", "", 1, 0.02}}};

// Returns the standard deviation of a term of given calibrations, as the fit counts the term.
inline double usual(std::size_t term) { return kinds[term].usual * kinds[term].size; }

// A point in the raw images of a pair.
struct Point {
  std::array<double, 2> left, right;
  double deviation;  // standard deviation of the difference of its rows, in pixels
  std::size_t pair;
};

// The cameras whose parameters change. `centre` is that of the right camera, in the left camera's frame.
struct Cameras {
  Lens left, right;
  Matrix3 rotation;
  Vector3 centre;
  std::array<Vector3, 2> across;  // directions of the left camera's frame across the baseline: down, and forward

  explicit Cameras(const StereoCalibration& c);
  void move(const Vector<terms>& by);
  Vector3 moved_centre(const Vector<terms>& by) const;
  // Returns the calibration of these cameras, for images of the size of `given`.
  StereoCalibration rectified(const StereoCalibration& given) const;
};

// Returns the derivatives, by the terms, of the distance of the right point from the epipolar line of the left one.
Vector<terms> derivatives(const Cameras& cameras, const Point& point);
// Returns the median size of these distances, in pixels.
double median_distance(const Cameras& cameras, const std::vector<Point>& points);

class Fit {
 public:
  explicit Fit(const StereoCalibration& given) : cameras_(given), size_(given.size) {}

  void solve(const std::vector<Point>& points, std::size_t pairs);
  const Cameras& cameras() const { return cameras_; }
  const Vector<terms>& sum() const { return sum_; }  // all corrections
  // Returns the covariance of the corrections. Errors of the points are related, so that the differences between pairs
  // and between parts of the image count, too.
  Matrix<terms> covariance(std::size_t pairs) const;

 private:
  Vector<terms> step(const std::vector<Point>& points, std::size_t pairs);
  std::size_t part_of(const Point& point) const;

  Cameras cameras_;
  Size size_;  // size of the raw images
  Vector<terms> sum_{};
  Matrix<terms> information_{};    // information of the points, as if their errors were independent
  Matrix<terms> between_pairs_{};  // covariance of the gradients, as the differences between pairs show it
  Matrix<terms> of_shared_{};      // covariance of the gradients by errors that the points of one part share
};

}  // namespace stereopsis::epipolar
