// Calls functions of the library that compare the images of a pair.
#pragma once

#include <string>

#include "arrays.hpp"
#include "stereopsis/formats.hpp"

namespace stereopsis::python {

// Calls f(left, right) with grey or RGB images.
template <class F>
auto with_rgb(const StereoPair& pair, F&& f) {
  if (!pair.format) return f(pair.left, pair.right);
  AnyImage left_rgb, right_rgb;
  to_rgb(pair.left, *pair.format, left_rgb);
  to_rgb(pair.right, *pair.format, right_rgb);
  return f(left_rgb.view(), right_rgb.view());
}

// Calls f(left, right), without the GIL, with grey or RGB images of arrays on the host.
template <class F>
auto with_pair(nb::handle left, nb::handle right, const std::string& colour, int bit_depth, F&& f) {
  if (left.is_none() || right.is_none()) refuse("left or right is None; pass the images of both cameras");
  const BorrowedPair lent(left, right, nb::none(), nb::none(), nb::none(), bit_depth, colour, nb::none());
  if (lent.is_on_device()) refuse("left and right are on a GPU; copy them to the host first, as NumPy arrays");
  const nb::gil_scoped_release release;
  return with_rgb(lent.pair, f);
}

}  // namespace stereopsis::python
