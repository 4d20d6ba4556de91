// What a run is given and what it makes.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Both views as they are given; masks are empty where all pixels are usable.
template <class T, template <class> class View>
struct Inputs {
  View<const T> left, right;
  View<const std::uint8_t> mask_left, mask_right;
};

// What a stage reads and writes, and computes: instructions × lanes on path costs, popcounts of 32-bit words, additions and
// minima of 32 bits. What is left out is small beside the rest.
struct Work {
  Work(double bytes_) : bytes(bytes_) {}
  Work& path_operations(double n) { return paths = n, *this; }
  Work& popcounts(double n) { return counts = n, *this; }
  Work& operations(double n) { return others = n, *this; }

  double bytes, paths = 0, counts = 0, others = 0;
};

template <template <class> class View>
struct OutputsOf {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> right;                                      // empty: not wanted
  View<float> confidence;                                 // empty: not wanted
  View<float> depth = {}, points = {}, uncertainty = {};  // empty: not wanted
  View<std::uint8_t> rectified = {};                      // the left image's bytes; empty: not wanted
};
using Outputs = OutputsOf<ImageView>;

// Calls f with each output of both.
template <class A, class B, class F>
void for_each_output(A& a, B& b, F&& f) {
  f(a.disparity, b.disparity);
  f(a.validity, b.validity);
  f(a.right, b.right);
  f(a.confidence, b.confidence);
  f(a.depth, b.depth);
  f(a.points, b.points);
  f(a.uncertainty, b.uncertainty);
  f(a.rectified, b.rectified);
}

// Where the pixels of a rectified view come from.
template <template <class> class View>
struct Maps {
  View<const std::int32_t> left, right;
};

}  // namespace stereopsis
