// Points of a scene as two cameras see them, for the tests of their geometry.
#pragma once

#include <random>
#include <vector>

#include "geometry/epipolar_fit.hpp"

namespace stereopsis::test {

// Points at depths of 4 to 24 baselines.
struct SeenPoints {
  Size size;
  int count;
  double wrong;  // share of the points that are elsewhere in the right image
  double noise;  // standard deviation of both coordinates in the right image, in pixels
  unsigned seed;
};

inline std::vector<epipolar::Point> seen_points(const epipolar::Cameras& cameras, const SeenPoints& options) {
  std::mt19937 random(options.seed);
  std::uniform_real_distribution<double> part(0, 1);
  std::normal_distribution<double> noise(0, options.noise);
  const auto somewhere = [&]() -> std::array<double, 2> {
    return {options.size.width * part(random), options.size.height * part(random)};
  };
  std::vector<epipolar::Point> points;
  for (int i = 0; i < options.count; ++i) {
    const std::array<double, 2> left = somewhere();
    const double depth = length(cameras.centre) * (4 + 20 * part(random));
    const Vector3 ray = cameras.left_ray(left[0], left[1]), &centre = cameras.centre;
    std::array<double, 2> right = cameras.right.project(
        turned(cameras.rotation, {depth * ray[0] - centre[0], depth * ray[1] - centre[1], depth * ray[2] - centre[2]}));
    for (double& v : right) v += noise(random);
    if (part(random) < options.wrong) right = somewhere();
    points.push_back({left, right, 0.1, 0});
  }
  return points;
}

}  // namespace stereopsis::test
