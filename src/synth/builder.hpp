// Adds surfaces to a world. All scenes use this class. Coordinates are relative to `frame`: x right, y up, z away from
// the cameras.
#pragma once

#include "synth/random.hpp"
#include "synth/world.hpp"

namespace stereopsis::synth {

class Builder {
 public:
  Builder(World& target, const RigGeometry& rig, std::uint64_t seed)
      : world(target), random(seed), half_width(rig.half_width()), half_height(rig.half_height()), scale_(rig.scale) {}

  World& world;
  Random random;
  double half_width, half_height;  // half of the left camera's field of view at depth 1
  Frame frame{{0, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 0, 1}};

  // Return the size of a pixel at a depth, and the larger one of `size` and the size of `pixels` pixels at this depth.
  // With the latter, thin objects remain visible.
  double pixel(double depth) const { return depth / scale_; }
  double at_least(double pixels, double size, double depth) const { return std::max(size, pixels * pixel(depth)); }
  // Returns the point at (x, y) of the left image, where x and y are −1 to 1 with y up, and whose disparity is the
  // fraction q of the largest disparity. Valid only in the frame with which a builder starts.
  Vec3 in_view(double x, double y, double q) const { return {x * half_width / q, y * half_height / q, 1 / q}; }

  Surface& panel(const Vec3& corner, const Vec3& along_x, const Vec3& along_y, const Texture& texture);
  // Adds a rectangle around `centre` whose normal is `normal`.
  Surface& board(const Vec3& centre, const Vec3& normal, double width, double height, const Texture& texture);
  Surface& disc(const Vec3& centre, const Vec3& normal, double radius, const Texture& texture);
  Surface& ellipsoid(const Vec3& centre, const Vec3& half_axes, const Texture& texture);
  Surface& sphere(const Vec3& centre, double radius, const Texture& texture) {
    return ellipsoid(centre, {radius, radius, radius}, texture);
  }
  Surface& rod(const Vec3& from, const Vec3& to, double radius_from, double radius_to, const Texture& texture);
  Surface& rod(const Vec3& from, const Vec3& to, double radius, const Texture& texture) {
    return rod(from, to, radius, radius, texture);
  }
  // Adds a solid, rotated about the vertical axis by twice atan(tan_half).
  Surface& solid(const Vec3& origin, double tan_half, std::shared_ptr<const Solid> shape);
  // Adds a box that stands on `base`, the middle of its bottom. The box is rotated about the vertical axis by twice
  // atan(tan_half).
  void box(const Vec3& base, double tan_half, const Vec3& size, const Texture& sides, const Texture& top);
  void box(const Vec3& base, double tan_half, const Vec3& size, const Texture& texture) {
    box(base, tan_half, size, texture, texture);
  }

 private:
  Surface& place(Surface surface);

  double scale_;
};

}  // namespace stereopsis::synth
