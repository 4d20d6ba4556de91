// The light on a panel, with darker corners and, unless shadows are hard, the sun with soft shadows.
#pragma once

#include <atomic>
#include <vector>

#include "synth/vector.hpp"

namespace stereopsis::synth {

struct Surface;
struct World;

struct Sphere {
  Vec3 centre;
  double radius;
};

Sphere bounding_sphere(const Surface& surface);

// Surfaces that may block rays.
class Occluders {
 public:
  explicit Occluders(const std::vector<Surface>& surfaces);

  // Returns the surfaces, without `self`, that may block rays which start in a sphere: in any direction, but not farther
  // than `reach`.
  Occluders within(const Sphere& from, double reach, const Surface* self) const;
  // Returns those that may block rays whose directions differ from `direction` by at most `spread`.
  Occluders towards(const Sphere& from, const Vec3& direction, double spread, const Surface* self) const;
  // Returns whether a ray from p is blocked. `direction` must have unit length.
  bool block(const Vec3& p, const Vec3& direction, double reach) const;

 private:
  struct Candidate {
    const Surface* surface;
    Sphere ball;
  };

  Occluders() = default;
  template <class Keep>
  Occluders filtered(Keep&& keep) const;

  std::vector<Candidate> all_;
};

// The light at the points of a grid on a panel, which is interpolated between the points. The light of a point is
// computed when it is first needed, because the cameras see only a small part of most panels.
class PanelLight {
 public:
  // The panel is a surface of `world`, and `all` are its surfaces.
  PanelLight(const World& world, const Surface& panel, const Occluders& all, double scale);

  // Returns the light at a point of the panel. The coordinates are 0 to 1 across the panel.
  double at(const World& world, double x, double y) const;

 private:
  float point(const World& world, int x, int y) const;
  double compute(const World& world, const Vec3& p) const;

  const Surface& panel_;
  Occluders near_, sunwards_;
  int width_, height_;
  mutable std::vector<std::atomic<float>> points_;  // NaN: not yet computed; all threads compute the same number
};

}  // namespace stereopsis::synth
