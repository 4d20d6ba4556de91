// Patches of 15×15 pixels, by which tracks (tracks.hpp) are located in the other image.
//
// The method is that of Lucas and Kanade (1981) in its inverse compositional form (Baker and Matthews 2004): gradients
// are those of the fixed patch, so that they are computed once. The moved patch is interpolated by Catmull and Rom's
// cubic, because a linear interpolation draws positions towards whole pixels. All sums are integers, so that each
// implementation returns the same bits.
#pragma once

#include <array>
#include <cstdint>

#include "core/cubic.hpp"
#include "sparse/windows.hpp"

namespace stereopsis::sparse {

inline constexpr int patch = 15;  // rows and columns of a patch
inline constexpr int patch_radius = 7;
inline constexpr int patch_lanes = 16;                  // elements of a stored row; the last one is 0
inline constexpr int position_units = cubic_positions;  // positions per pixel
inline constexpr int weight_bits = 10;                  // the weights of an interpolation sum up to 2^weight_bits
// Columns and rows around the point that a patch and its interpolation read.
inline constexpr int patch_before = patch_radius + 2, patch_after = patch_radius + 4;

inline bool holds_patch(const Level& level, int x, int y) {
  return x >= patch_before && y >= patch_before && x + patch_after < level.width() && y + patch_after < level.height();
}

// Returns the level in which patches are compared: smoothed by binomial weights (1, 2, 1) along rows and columns. Details
// at the limit of the resolution, and noise, draw positions towards whole pixels.
Level smoothed(const Level& level);

// The parameters of a moved patch: its row, its column, and the change of its column along rows and along columns, because
// the disparity of a slanted surface changes. The last parameter is a difference in brightness.
inline constexpr int parameters = 5;
using Sums = std::array<std::int64_t, parameters>;

// The fixed patch: its values, the derivatives of its values by its row and column, and the sums of the products of the
// derivatives by all parameters, and of these with the changes that rows cause whose distance grows along rows and along
// columns.
struct Patch {
  using Rows = std::array<std::int16_t, patch * patch_lanes>;
  Rows values, gy, gx;
  std::array<Sums, parameters> products{};
  std::array<Sums, 2> of_slopes{};
};

// Fills the patch around (x, y). Requires holds_patch().
void fill_patch(const Level& level, int x, int y, Patch& patch);
// Returns the products of the derivatives and the difference between the patch around (x, y) of a level, both in
// 1/position_units, and the fixed patch. Requires holds_patch() for the whole pixels.
Sums difference_oracle(const Patch& patch, const Level& level, int x, int y);
// Returns the same sums, in another order.
Sums difference(const Patch& patch, const Level& level, int x, int y);

}  // namespace stereopsis::sparse
