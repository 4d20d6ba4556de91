// The differences between corresponding rows of a pair, as a plane over the image, which may have a keystone.
#pragma once

#include <cmath>
#include <vector>

#include "sparse/normal_equations.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::sparse {

// Pixel (x, y) of the left image corresponds to (x − dx, y − dy) of the right image. dx and dy are multiples of 1/256 px.
struct Match {
  int x = 0;
  int y = 0;
  double dx = 0;
  double dy = 0;
  double uniqueness = 0;  // 0 to 1: how much better the match correlates than the best one elsewhere
};

// y_left − y_right = offset + roll · u + zoom · v + keystone · u · v, in pixels, where u = x / width − ½ and
// v = y / height − ½.
struct RowPlane {
  double offset = 0;
  double roll = 0;  // difference between the right and the left border
  double zoom = 0;  // difference between the lower and the upper border

  // Difference between the roll at the lower border and at the upper one: a camera is rotated about its vertical axis.
  double keystone = 0;

  double at(double u, double v) const { return offset + roll * u + zoom * v + keystone * u * v; }
};

// A difference between rows, at a position that is described as in RowPlane.
struct RowPoint {
  double u = 0;
  double v = 0;
  double dy = 0;
  double deviation = 1;  // standard deviation of dy, relative to those of the other points
  double disparity = 0;  // as a part of the image's width
};

// A plane that was fitted to matches.
struct RowFit {
  RowPlane plane;
  RowPlane deviations;    // standard deviation of each coefficient
  double most_apart = 0;  // largest |y_left − y_right| of the plane, which is in a corner of the image
  double deviation = 0;   // standard deviation of this value
  double spread = 0;      // robust standard deviation of the matches around the plane
};

// The coefficients of a plane that are fitted. A keystone requires points that are more precise than matches are.
enum class RowTerms { linear, keystone };

// The terms of a row difference: those of a plane, and one in the disparity, because the baseline is not exactly along the
// rows. The last one is the difference at a disparity of the image's width.
inline constexpr std::size_t plane_terms = 4, all_terms = 5;
using Terms = Vector<all_terms>;

// The terms, and the inverse of their covariance.
struct TermsFit {
  Terms terms{};
  Matrix<all_terms> information{};
};

// Rounds an alignment or a difference of rows to a multiple of 1/1024 px.
inline double to_grid(double pixels) { return std::round(pixels * 1024) / 1024; }

// Both functions fit so that outliers have no weight. `precision` is the smallest spread of the points. The operations are rounded
// correctly and have a fixed order, so that the result is the same on every machine.
TermsFit fit_terms(const std::vector<RowPoint>& points, double precision);
RowFit fit_rows(const std::vector<RowPoint>& points, RowTerms terms, double precision);
// Fits a plane to the matches of an image of this size.
RowFit fit_rows(const std::vector<Match>& matches, Size size);

}  // namespace stereopsis::sparse
