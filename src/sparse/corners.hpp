// Corners of an image, spread over it.
#pragma once

#include <vector>

#include "sparse/windows.hpp"

namespace stereopsis::sparse {

struct Corner {
  int x = 0;
  int y = 0;
};

// Returns the best corner of each square of `side` × `side` pixels: the point whose structure tensor, summed over
// 7×7 pixels, has the largest smaller eigenvalue. Squares without texture have no corner.
std::vector<Corner> find_corners(const Level& level, int side);

}  // namespace stereopsis::sparse
