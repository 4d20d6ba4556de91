// The alignment of rows: by how much the rows of the right image differ from those of the left one.
#pragma once

#include "stereopsis/image.hpp"

namespace stereopsis {

// Row y of the aligned right image is row y + v of the given one, where
//
//   v = offset + roll · s + zoom · t + keystone · s · t,  s = (x + ½) / width − ½,  t = (y + ½) / height − ½
//
// at pixel (x, y) of an image of width × height pixels. All values are in pixels. These are the differences that a small
// rotation of a camera about each of its axes causes, and a small difference of the focal lengths.
struct RowAlignment {
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
  // Returns the root mean square of v over the image.
  double rms() const;

  bool operator==(const RowAlignment&) const = default;
};

}  // namespace stereopsis
