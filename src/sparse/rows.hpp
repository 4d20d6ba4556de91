// The differences between corresponding rows of a pair, as a plane over the image.
#pragma once

#include <vector>

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

// y_left − y_right = offset + roll · (x / width − ½) + zoom · (y / height − ½), in pixels.
struct RowPlane {
  double offset = 0;
  double roll = 0;  // difference between the right and the left border
  double zoom = 0;  // difference between the lower and the upper border

  // Returns the value at u = x / width − ½ and v = y / height − ½.
  double at(double u, double v) const { return offset + roll * u + zoom * v; }
  RowPlane divided_by(int scale) const { return {offset / scale, roll / scale, zoom / scale}; }
};

// A plane that was fitted to matches.
struct RowFit {
  RowPlane plane;
  double most_apart = 0;  // largest |y_left − y_right| of the plane, which is in a corner of the image
  double deviation = 0;   // standard deviation of this value
  double spread = 0;      // robust standard deviation of the matches around the plane
};

// Fits a plane to the matches of an image of this size, so that outliers have no weight.
RowFit fit_rows(const std::vector<Match>& matches, Size size);

}  // namespace stereopsis::sparse
