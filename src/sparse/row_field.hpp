// Fields of row differences: smooth splines through points, for rows that no plane follows.
#pragma once

#include <optional>
#include <vector>

#include "sparse/rows.hpp"
#include "sparse/windows.hpp"
#include "stereopsis/row_alignment.hpp"

namespace stereopsis::sparse {

// Returns a field, and for a field along y a roll and a keystone, that explain the points, whose `dy` are the differences
// that remain after a plane, or nothing. Each of
// several fields is fitted to a half of the points, and compared with the plane at the others. So rows that a plane
// follows, and rows that differ at random, have no field. The coefficients are multiples of 1/1024 px, the same on every
// machine.
std::optional<RowAlignment> fit_field(const std::vector<RowPoint>& points);

// Returns the field with as many knots as `shape` has.
RowAlignment fit_field(const std::vector<RowPoint>& points, const RowField& shape);

// Returns an image with aligned rows. Rows outside the image replicate its edge.
Level aligned(const Level& right, const RowAlignment& alignment);

}  // namespace stereopsis::sparse
