// The surfaces that scenes are built from, each in its own frame: panels (with holes), ellipsoids, and cylinders or
// cones open at both ends. The intersection with a ray has a closed form.
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

// Shape of the parts that are cut out of a panel.
enum class Cutout : std::uint8_t {
  none,
  corners,       // an ellipse remains
  ring,          // an elliptical ring of 3/10 of the radius remains
  round_holes,   // a hole of radius 0.33 in each square of side `pitch`
  square_holes,  // a hole of side 0.7 in each square of side `pitch`
  blob,          // a part with an irregular outline remains
  leaf,          // the area between two arcs along x remains
  slats,         // a gap of 0.4 of each `pitch` along x, except for two rails
  mesh,          // crossed diagonal wires remain, `pitch` apart
};

// The light on a panel, computed at points once per scene and interpolated between them.
struct LightMap {
  int width = 0, height = 0;
  std::vector<float> light;

  double at(double x, double y) const;  // coordinates from 0 to 1 across the panel
};

struct Surface {
  Shape shape = Shape::panel;
  Cutout cutout = Cutout::none;
  Frame frame;
  Vec3 size;
  double pitch = 1;
  Texture texture;
  LightMap light;

  // Returns the smallest t ≥ t_min at which o + t·d, both in the surface's frame, lies on the surface, or infinity.
  double hit(const Vec3& o, const Vec3& d, double t_min) const;
  // Returns the normal at a point on the surface: outwards, or along z for panels; in the surface's frame.
  Vec3 normal(const Vec3& p) const;
  // Computes the bounding box in the surface's frame.
  void bounds(Vec3& low, Vec3& high) const;
};

}  // namespace stereopsis::synth
