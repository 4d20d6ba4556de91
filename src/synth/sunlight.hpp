// Hard shadows: tells which points the sun reaches.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/surface.hpp"

namespace stereopsis::synth {

// The surfaces that may lie between a point and the sun, in a grid across the direction of the sun.
class Sunlight {
 public:
  Sunlight() = default;
  Sunlight(const std::vector<Surface>& surfaces, const Vec3& sun);

  // Returns whether none of the surfaces, which are those of the constructor, blocks the sun at p.
  bool reaches(const Vec3& p, const std::vector<Surface>& surfaces) const;

 private:
  static constexpr int side = 256;  // number of cells along each axis

  int column(double u) const;
  int row(double v) const;

  Vec3 sun_, u_, v_;
  double u0_ = 0, v0_ = 0, across_ = 1, along_ = 1;  // origin of the grid, and sides of its cells
  std::vector<std::vector<std::uint16_t>> cells_;
};

}  // namespace stereopsis::synth
