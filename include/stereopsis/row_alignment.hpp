// The alignment of rows: by how much the rows of the right image differ from those of the left one.
#pragma once

#include <algorithm>
#include <cmath>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Row y of the aligned right image is row y + v of the given one, where
//
//   v = offset + roll · s + zoom · t + keystone · s · t,  s = (x + ½) / width − ½,  t = (y + ½) / height − ½
//
// at pixel (x, y) of an image of width × height pixels. All values are in pixels. These are the differences that a small
// rotation of a camera about each of its axes causes, and a small difference of the focal lengths.
struct RowAlignment {
  static constexpr int most_rows = 32;  // largest |v| that a matcher accepts

  double offset = 0;  // v in the centre of the image
  double roll = 0;    // v at the right border minus v at the left border
  double zoom = 0;    // v at the lower border minus v at the upper border
  // Roll at the lower border minus roll at the upper border: a camera is rotated about its vertical axis.
  double keystone = 0;

  // Returns v at a pixel of an image of this size.
  double at(double x, double y, Size size) const {
    const double s = (x + 0.5) / size.width - 0.5, t = (y + 0.5) / size.height - 0.5;
    return offset + roll * s + zoom * t + keystone * s * t;
  }
  // Returns the largest |v|, which is in a corner of the image.
  double most() const {
    double corner = 0;
    for (const double s : {-0.5, 0.5})
      for (const double t : {-0.5, 0.5})
        corner = std::max(corner, std::abs(offset + roll * s + zoom * t + keystone * s * t));
    return corner;
  }
  // Returns the root mean square of v over the image.
  double rms() const {
    return std::sqrt(offset * offset + (roll * roll + zoom * zoom) / 12 + keystone * keystone / 144);
  }

  // Returns the alignment in pixels that are `factor` times as wide and high.
  RowAlignment divided_by(int factor) const {
    return {offset / factor, roll / factor, zoom / factor, keystone / factor};
  }

  // Returns the part of a given image of the size `whole` from which the part `aligned` of the aligned image is
  // interpolated, for every alignment that a matcher accepts.
  static Rect rows_for(const Rect& aligned, Size whole) {
    constexpr int rows = most_rows + 3;  // the interpolation reads two more rows; one row is for rounding
    return intersect({aligned.x, aligned.y - rows, aligned.width, aligned.height + 2 * rows},
                     {0, 0, whole.width, whole.height});
  }

  // Returns whether no row moves.
  bool is_identity() const { return *this == RowAlignment{}; }

  bool operator==(const RowAlignment&) const = default;
};

}  // namespace stereopsis
