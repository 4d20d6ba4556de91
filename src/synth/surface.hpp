// The surfaces of scenes, each in its own frame: panels (with holes), ellipsoids, and cylinders or cones that are open
// at both ends. The intersection with a ray has a closed form.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "synth/panel_light.hpp"
#include "synth/texture.hpp"
#include "synth/vector.hpp"

namespace stereopsis::synth {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Shape : std::uint8_t {
  panel,      // 0 ≤ x ≤ size.x, 0 ≤ y ≤ size.y, z = 0
  ellipsoid,  // ellipsoid with the half axes `size`
  frustum,    // cylinder or cone around z from 0 to size.z, with radius from size.x to size.y
  solid,      // a shape of another program
};

// A shape of another program, such as a mesh. Points and directions are in the frame of its surface.
class Solid {
 public:
  virtual ~Solid() = default;
  // Returns the smallest t ≥ t_min at which o + t·d lies on the solid, or infinity.
  virtual double hit(const Vec3& o, const Vec3& d, double t_min) const = 0;
  // Return the normal and the colour at a point on the solid.
  virtual Vec3 normal(const Vec3& p) const = 0;
  virtual Colour colour(const Vec3& p) const = 0;
  // Computes the bounding box.
  virtual void bounds(Vec3& low, Vec3& high) const = 0;
};

// Shape of the parts that are cut out of a panel.
enum class Cutout : std::uint8_t {
  none,
  corners,       // the corners are cut out, so that an ellipse remains
  ring,          // an elliptical ring of 3/10 of the radius remains
  round_holes,   // a hole of radius 0.33 in each square of side `pitch`
  square_holes,  // a hole of side 0.7 in each square of side `pitch`
  blob,          // a part with an irregular outline remains
  leaf,          // the area between two arcs along x remains
  slats,         // gaps of 0.4 of each `pitch` along x, except at two rails
  mesh,          // crossed diagonal wires remain, at a distance of `pitch`
  sprig,         // leaves of a length of about `pitch` remain, inside an irregular outline
  trapezoid,     // the sides lean inwards, by `pitch` each at the top
};

struct Surface {
  Shape shape = Shape::panel;
  Cutout cutout = Cutout::none;
  Frame frame;
  Vec3 size;
  double pitch = 1;
  Texture texture;
  std::unique_ptr<PanelLight> light;  // null: the light has no shadows
  std::shared_ptr<const Solid> solid;

  // Returns the smallest t ≥ t_min at which o + t·d lies on the surface, or infinity. Both vectors are in the frame of
  // the surface.
  double hit(const Vec3& o, const Vec3& d, double t_min) const;
  // Returns the normal at a point on the surface, in the frame of the surface: outwards, or along z for panels.
  Vec3 normal(const Vec3& p) const;
  Colour colour(const Vec3& p) const { return solid ? solid->colour(p) : colour_at(texture, p); }
  // Computes the bounding box in the frame of the surface.
  void bounds(Vec3& low, Vec3& high) const;
};

}  // namespace stereopsis::synth
