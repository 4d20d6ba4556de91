// The pose of two cameras of which nothing is known.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "geometry/epipolar_fit.hpp"

namespace stereopsis::epipolar {

// Places the right camera by points of which many may be wrong; the distance between the cameras is that of `cameras`.
// Random samples of the points are each solved by Gauss-Newton steps over the distances from epipolar lines, and the pose
// that fits most points is kept (RANSAC: Fischler and Bolles, "Random Sample Consensus", CACM 1981). The points lie
// before both cameras.
void place(Cameras& cameras, const std::vector<Point>& points);

// Returns the pixel of the left image that shows the right camera, or nothing if the camera lies outside the image.
std::optional<std::array<double, 2>> epipole(const Cameras& cameras, Size size);

}  // namespace stereopsis::epipolar
