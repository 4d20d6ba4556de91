// The knots on which a position of a uniform cubic B-spline depends.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace stereopsis {

struct SplineSupport {
  int first = 0, count = 1;
  std::array<double, 4> weights = {1, 0, 0, 0};

  // The position is −½ to ½. A side with one knot is constant.
  SplineSupport(double position, int knots) {
    if (knots == 1) return;
    const double q = (position + 0.5) * (knots - 3);
    first = std::clamp(static_cast<int>(std::floor(q)), 0, knots - 4);
    count = 4;
    const double t = q - first, rest = 1 - t, cube = t * t * t;
    weights = {rest * rest * rest / 6, (3 * cube - 6 * t * t + 4) / 6, (3 * (t + t * t - cube) + 1) / 6, cube / 6};
  }
  double weight(int i) const { return weights[static_cast<std::size_t>(i)]; }
};

}  // namespace stereopsis
