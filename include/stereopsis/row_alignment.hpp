// The alignment of rows: by how much the rows of the right image differ from those of the left one.
#pragma once

#include <array>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Differences between rows that no plane follows, such as those of a scanner, a rolling shutter or heat haze: a uniform
// cubic B-spline over the image. A side with n knots consists of n − 3 intervals. A spline with one column depends on the
// row alone.
struct RowField {
  static constexpr int most_knots = 240;  // largest number of coefficients

  int columns = 0, rows = 0;  // knots along each side: 1 column or at least 4, at least 4 rows; 0: no field
  std::array<float, most_knots> knots = {};  // coefficients in pixels, row by row

  // Returns whether there is no field.
  bool empty() const { return rows == 0; }
  // Returns the number of coefficients.
  int count() const { return columns * rows; }
  // Returns whether the numbers of knots are allowed.
  bool is_valid() const {
    const auto is_side = [](int n) { return n >= 4 && n <= most_knots; };
    return (columns == 0 && rows == 0) ||
           ((columns == 1 || is_side(columns)) && is_side(rows) && count() <= most_knots);
  }
  // Returns the difference at a position of the image, from −½ to ½ along each side.
  double at(double s, double t) const;
  // Returns a limit of |difference|: the largest coefficient.
  double most() const;
  // Returns the field with all differences `factor` times as large.
  RowField scaled(double factor) const;

  bool operator==(const RowField&) const = default;
};

// Row y of the aligned right image is row y + v of the given one, where
//
//   v = offset + roll · s + zoom · t + keystone · s · t + field(s, t),  s = (x + ½) / width − ½,  t = (y + ½) / height − ½
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
  RowField field = {};  // the rest of v; empty for most pairs

  // Returns v at a position of the image, from −½ to ½ along each side.
  double at(double s, double t) const { return offset + roll * s + zoom * t + keystone * s * t + field.at(s, t); }
  // Returns v at a pixel of an image of this size.
  double at(double x, double y, Size size) const {
    return at((x + 0.5) / size.width - 0.5, (y + 0.5) / size.height - 0.5);
  }
  // Returns the plane alone.
  RowAlignment plane() const { return {offset, roll, zoom, keystone}; }
  // Returns the largest |v|. With a field, it is a limit of |v|.
  double most() const;
  // Returns the root mean square of v over the image.
  double rms() const;

  // Returns the alignment with all differences `factor` times as large.
  RowAlignment scaled(double factor) const {
    return {factor * offset, factor * roll, factor * zoom, factor * keystone, field.scaled(factor)};
  }
  // Returns the alignment that moves rows the other way in mirrored images.
  RowAlignment mirrored() const;

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
