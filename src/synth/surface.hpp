// The surfaces that scenes are built from, each in its own frame: panels (with holes), ellipsoids, and cylinders
// or cones open at both ends. A ray meets them in closed form.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "synth/texture.hpp"
#include "synth/vector.hpp"

namespace stereopsis::synth {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Shape : std::uint8_t {
  panel,      // 0 ≤ x ≤ size.x, 0 ≤ y ≤ size.y, z = 0
  ellipsoid,  // half axes `size`
  frustum,    // around z from 0 to size.z, radius from size.x to size.y
};

// What is missing from a panel.
enum class Cutout : std::uint8_t {
  none,
  corners,       // an ellipse is left
  ring,          // an elliptical ring of 3/10 of the radius is left
  round_holes,   // a hole of radius 0.33 in each square of side `pitch`
  square_holes,  // a hole of side 0.7 in each square of side `pitch`
  blob,          // a part of irregular outline is left
  leaf,          // what two arcs enclose along x is left
  slats,         // a gap of 0.4 of each `pitch` along x, but for two rails
  mesh,          // crossed diagonal wires are left, `pitch` apart
};

// The light on a panel, computed once per scene and interpolated in between.
struct LightMap {
  int width = 0, height = 0;
  std::vector<float> light;

  double at(double x, double y) const;  // 0 to 1 across the panel
};

struct Surface {
  Shape shape = Shape::panel;
  Cutout cutout = Cutout::none;
  Frame frame;
  Vec3 size;
  double pitch = 1;
  Texture texture;
  LightMap light;

  // The smallest t ≥ t_min at which o + t·d, both in the surface's frame, lies on it; or infinity.
  double hit(const Vec3& o, const Vec3& d, double t_min) const;
  // Of a point on the surface: outwards, or along z for panels; in the surface's frame.
  Vec3 normal(const Vec3& p) const;
  // Of the box around it, in the surface's frame.
  void bounds(Vec3& low, Vec3& high) const;
};

}  // namespace stereopsis::synth
