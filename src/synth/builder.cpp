#include "synth/builder.hpp"

#include <algorithm>
#include <cmath>

namespace stereopsis::synth {
namespace {

// Returns an orthonormal frame whose z axis is along `direction`. The x axis of the frame is horizontal unless
// `direction` is vertical.
Frame frame_along(const Vec3& origin, const Vec3& direction) {
  const Vec3 z = normalised(direction);
  const Vec3 x = normalised(std::abs(z.y) < .999 ? cross({0, 1, 0}, z) : cross({0, 0, 1}, z));
  return {origin, x, cross(z, x), z};
}

}  // namespace

Surface& Builder::place(Surface surface) {
  surface.frame = frame * surface.frame;
  // The front of a panel is the side that the left camera sees.
  if (surface.shape == Shape::panel && dot(surface.frame.z, surface.frame.origin) > 0)
    surface.frame.z = -surface.frame.z;
  Vec3 low, high;
  surface.bounds(low, high);
  double depth = farthest_depth;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 p{corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z};
    depth = std::min(depth, surface.frame.point(p).z);
  }
  surface.texture.grain_cell = 2.8 * pixel(std::max(depth, nearest_depth));
  surface.texture.seed ^= static_cast<std::uint32_t>(random.next());
  return world.surfaces.emplace_back(std::move(surface));
}

Surface& Builder::panel(const Vec3& corner, const Vec3& along_x, const Vec3& along_y, const Texture& texture) {
  Surface s;
  const Vec3 x = normalised(along_x), y = normalised(along_y);
  s.frame = {corner, x, y, cross(x, y)};
  s.size = {length(along_x), length(along_y), 0};
  s.texture = texture;
  return place(std::move(s));
}

Surface& Builder::board(const Vec3& centre, const Vec3& normal, double width, double height, const Texture& texture) {
  const Frame f = frame_along(centre, normal);
  return panel(f.point({-.5 * width, -.5 * height, 0}), width * f.x, height * f.y, texture);
}

Surface& Builder::disc(const Vec3& centre, const Vec3& normal, double radius, const Texture& texture) {
  Surface& s = board(centre, normal, 2 * radius, 2 * radius, texture);
  s.cutout = Cutout::corners;
  return s;
}

Surface& Builder::ellipsoid(const Vec3& centre, const Vec3& half_axes, const Texture& texture) {
  Surface s;
  s.shape = Shape::ellipsoid;
  s.frame.origin = centre;
  s.size = half_axes;
  s.texture = texture;
  return place(std::move(s));
}

Surface& Builder::rod(const Vec3& from, const Vec3& to, double radius_from, double radius_to, const Texture& texture) {
  Surface s;
  s.shape = Shape::frustum;
  s.frame = frame_along(from, to - from);
  s.size = {radius_from, radius_to, length(to - from)};
  s.texture = texture;
  return place(std::move(s));
}

Surface& Builder::solid(const Vec3& origin, double tan_half, std::shared_ptr<const Solid> shape) {
  Surface s;
  s.shape = Shape::solid;
  s.frame = turned(origin, tan_half);
  s.solid = std::move(shape);
  return place(std::move(s));
}

void Builder::box(const Vec3& base, double tan_half, const Vec3& size, const Texture& sides, const Texture& top) {
  const Frame f = turned(base, tan_half);
  const double w = .5 * size.x, h = size.y, d = .5 * size.z;
  const Vec3 x = size.x * f.x, y = size.y * f.y, z = size.z * f.z;
  panel(f.point({-w, h, -d}), x, z, top);
  panel(f.point({-w, 0, -d}), x, y, sides);
  panel(f.point({-w, 0, d}), x, y, sides);
  panel(f.point({-w, 0, -d}), z, y, sides);
  panel(f.point({w, 0, -d}), z, y, sides);
}

}  // namespace stereopsis::synth
