// The vertical motion between two images of one camera, such as that of a camera that pitches. Profiles of the images,
// the sums of their rows in a few strips, are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sparse/windows.hpp"

namespace stereopsis::sparse {

using RowProfile = std::vector<std::int32_t>;  // the sums of the rows of each strip, one strip after the other

RowProfile row_profile(const Level& image);

// Returns by how many rows the content of an image has moved down since the image before it. Returns nothing if the
// images cannot be compared, or if their strips disagree.
std::optional<double> vertical_motion(const RowProfile& earlier, const RowProfile& now);

}  // namespace stereopsis::sparse
