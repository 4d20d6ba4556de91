// Point clouds as lists of points, operations that make them smaller and cleaner, and meshes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Points with their properties. A property is empty, or has one value per point.
struct PointCloud {
  std::vector<std::array<float, 3>> points = {};         // x, y and z, in the unit of the rig
  std::vector<std::array<float, 3>> normals = {};        // unit vectors towards the camera; NaN where unknown
  std::vector<std::array<std::uint8_t, 3>> colors = {};  // RGB
  std::vector<float> confidence = {};                    // 0 to 1
};

// A surface of triangles.
struct Mesh {
  PointCloud vertices;  // only vertices of triangles
  std::vector<std::array<std::uint32_t, 3>> triangles =
      {};  // indices of vertices, counter-clockwise seen from the camera
};

// Neighbouring pixels whose distance from the camera differs by a larger share than this lie on different surfaces.
inline constexpr double usual_step = 0.05;

// Returns the normals of the surface that organised points form: (height, width), 3 channels, NaN where a pixel has no
// neighbours on its surface. `step` is described at usual_step. Throws Error(call) for points without 3 channels.
Image<float> surface_normals(ImageView<const float> points, double step = usual_step);

// Returns the valid pixels of organised points, row by row; `organised` keeps invalid ones, as NaN. `colour` (RGB or
// grey), `confidence` and `normals` may be empty. Throws Error(call) for images that do not fit.
PointCloud point_cloud(ImageView<const float> points, ImageView<const std::uint8_t> colour,
                       ImageView<const float> confidence, ImageView<const float> normals = {}, bool organised = false);

// Returns one point for each occupied cube of a grid with cubes of this size: the mean of the points in the cube, with
// the mean of their properties, in the order of the cubes. Throws Error(call) unless size > 0.
PointCloud voxel_means(const PointCloud& cloud, double size);

// Removes isolated points: those whose mean distance to their nearest `neighbours` exceeds the mean over all points by
// more than `deviations` standard deviations (statistical outlier removal). Throws Error(call) unless neighbours ≥ 1
// and deviations ≥ 0. `threads` 0 uses all cores; the result does not depend on it.
PointCloud without_outliers(const PointCloud& cloud, int neighbours, double deviations, int threads = 0);

// Returns the surface that organised points form: two triangles for each square of four pixels, or one for three.
// Pixels whose distance differs by more than `step` are not joined. The other arguments are those of point_cloud().
Mesh surface_mesh(ImageView<const float> points, ImageView<const std::uint8_t> colour,
                  ImageView<const float> confidence, double step = usual_step);

}  // namespace stereopsis
