// Calls functions of the library that compare the images of a pair.
#pragma once

#include <string>

#include "arrays.hpp"
#include "jobs/pair_fault.hpp"

namespace stereopsis::python {

// Calls f(left, right), without the GIL, with grey or RGB images of arrays on the host.
template <class F>
auto with_pair(nb::handle left, nb::handle right, const std::string& colour, int bit_depth, F&& f) {
  if (left.is_none() || right.is_none()) refuse("left or right is None; pass the images of both cameras");
  nb::dict inputs;
  inputs["left"] = left;
  inputs["right"] = right;
  const BorrowedPair lent(inputs, bit_depth, colour, nb::none());
  if (lent.is_on_device()) refuse("left and right are on a GPU; copy them to the host first, as NumPy arrays");
  const nb::gil_scoped_release release;
  return jobs::with_rgb(lent.pair, f);
}

}  // namespace stereopsis::python
