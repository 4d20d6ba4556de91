// Writes point clouds and meshes to files; part of stereopsis::io.
#pragma once

#include <filesystem>

#include "stereopsis/point_cloud.hpp"

namespace stereopsis {

// Writes a point cloud as binary .pcd (Point Cloud Library) or, with another extension, as binary PLY. `organised` is
// the size of the image that the points fill row by row, NaN where invalid; 0×0 for a list of points. Throws
// Error(call) if a property has another number of values than there are points, and Error(file).
void write_point_cloud(const std::filesystem::path& file, const PointCloud& cloud, Size organised = {});

// Writes the vertices and triangles of a mesh as binary PLY. Throws Error(file).
void write_mesh(const std::filesystem::path& file, const Mesh& mesh);

}  // namespace stereopsis
