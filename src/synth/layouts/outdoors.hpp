// Things of the open air that layouts share: ground, sky, plants, vehicles, buildings. Lengths called `metre` are those
// of a metre in scene units.
#pragma once

#include <array>

#include "synth/builder.hpp"

namespace stereopsis::synth {

// Ground that rises and falls with the distance: strips across the whole view, each with its own slope. The nearest one
// is level, so that the bottom of the image shows the nearest distance.
class Land {
 public:
  Land(Builder& b, double ground, double steepest);

  double at(double z) const;
  Vec3 point(double x, double z, double raised = 0) const { return {x, at(z) + raised, z}; }
  // Covers the strips from x0 to x1, and from z0 on to z1.
  void cover(double x0, double x1, const Texture& texture, double raised = 0, double z0 = nearest,
             double z1 = farthest) const;

 private:
  static constexpr double nearest = .9, farthest = 21;
  static constexpr std::array<double, 6> knots{nearest, 2.6, 5, 8.5, 13, farthest};

  Builder& b_;
  std::array<double, 6> heights_;
};

// Sets a sun at a random low height, which throws hard shadows, and a sky that may be brighter than white.
void open_sky(Builder& b, double horizon);

Texture grassy(Random& random, double pixel);
Texture leafy(Random& random, double leaf);

// Adds a flat bunch of leaves with gaps. Each leaf is about `leaf` long.
void sprig(Builder& b, const Vec3& centre, double size, double leaf, const Texture& texture);
void leafy_tree(Builder& b, const Vec3& foot, double height);
void hedge(Builder& b, const Vec3& from, const Vec3& to, double height);
void hill(Builder& b, const Vec3& top, const Vec3& half_axes);

// Add vehicles that stand on `base` and drive away from the cameras, or towards them if `oncoming`.
void saloon(Builder& b, const Vec3& base, double tan_half, bool oncoming, double metre);
void van(Builder& b, const Vec3& base, bool oncoming, double metre);

// Adds a building with windows in the front and in the side that faces the road at x = 0.
void building(Builder& b, const Vec3& base, const Vec3& size, double metre);
void lamp_post(Builder& b, const Vec3& foot, double towards_road, double metre);
void traffic_sign(Builder& b, const Vec3& foot, double metre);
void traffic_light(Builder& b, const Vec3& foot, double metre);

}  // namespace stereopsis::synth
