// Codecs of points, for read_points() and for fuzzing.
#pragma once

#include <array>
#include <vector>

#include "io/codecs.hpp"

namespace stereopsis::io {

using Points = std::vector<std::array<float, 3>>;

// Return the finite points of a file's contents. Throw Error(format) for contents that are not of the format.
Points decode_ply(Bytes file);
Points decode_pcd(Bytes file);
Points decode_kitti_points(Bytes file);

}  // namespace stereopsis::io
