#include "synth/surface.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synth/random.hpp"

namespace stereopsis::synth {
namespace {

double squared(double v) { return v * v; }

// Returns whether a point is on one of the leaves, of which each cell of a lattice has one at a random angle.
bool is_on_leaf(double x, double y, std::uint32_t seed) {
  const double column = std::floor(x), row = std::floor(y);
  const auto index = [](double v) { return static_cast<std::uint32_t>(static_cast<std::int64_t>(v)); };
  const std::uint32_t h = hash(index(column), index(row), 0, seed);
  const double ax = (h & 0xff) / 127.5 - 1, ay = ((h >> 8) & 0xff) / 127.5 - 1;  // direction of the leaf
  const double squares = ax * ax + ay * ay + 1e-6;
  const double cx = x - column - .4 - .2 * ((h >> 16) & 0xff) / 255, cy = y - row - .4 - .2 * (h >> 24) / 255;
  const double along = cx * ax + cy * ay, across = cx * ay - cy * ax;
  return across * across <= squares * squared(.3 * (1 - 4 * along * along / squares)) && 4 * along * along <= squares;
}

bool is_solid(const Surface& s, double x, double y) {
  const auto off_centre = [&](double v) { return v / s.pitch - std::floor(v / s.pitch) - .5; };
  const double across = squared(2 * x / s.size.x - 1) + squared(2 * y / s.size.y - 1);
  switch (s.cutout) {
    case Cutout::none: return true;
    case Cutout::corners: return across <= 1;
    case Cutout::ring: return across <= 1 && across >= squared(.7);
    case Cutout::round_holes: return squared(off_centre(x)) + squared(off_centre(y)) >= squared(.33);
    case Cutout::square_holes: return std::max(std::abs(off_centre(x)), std::abs(off_centre(y))) >= .35;
    case Cutout::blob: {
      const Vec3 at{3 * x / s.size.x + 7, 3 * y / s.size.y, 0};
      return across <= 1.5 * (.7 * noise(at, s.texture.seed) + .3 * noise(3.0 * at, s.texture.seed + 1));
    }
    case Cutout::leaf: return std::abs(2 * y / s.size.y - 1) <= 1 - squared(2 * x / s.size.x - 1);
    case Cutout::slats:
      return std::abs(off_centre(x)) <= .3 || std::abs(y - .25 * s.size.y) < .05 * s.size.y ||
             std::abs(y - .8 * s.size.y) < .05 * s.size.y;
    case Cutout::sprig: {
      const Vec3 at{2.5 * x / s.size.x + 3, 2.5 * y / s.size.y, 0};
      const Vec3 coarse{.4 * x / s.pitch, .4 * y / s.pitch, 0};  // bends the lattice
      const double u = x / s.pitch + 2 * noise(coarse, s.texture.seed + 2);
      const double v = y / s.pitch + 2 * noise(coarse, s.texture.seed + 3);
      return across <= .25 + noise(at, s.texture.seed) &&
             (is_on_leaf(u, v, s.texture.seed) || is_on_leaf(.8 * (u - v), .8 * (u + v), s.texture.seed + 1));
    }
    case Cutout::trapezoid: {
      const double inset = s.pitch * y / s.size.y;
      return x >= inset && x <= s.size.x - inset;
    }
    case Cutout::mesh: return std::abs(off_centre(x + y)) >= .44 || std::abs(off_centre(x - y)) >= .44;
  }
  return true;
}

double hit_panel(const Surface& s, const Vec3& o, const Vec3& d, double t_min) {
  if (d.z == 0) return infinity;
  const double t = -o.z / d.z;
  if (!(t >= t_min)) return infinity;
  const double x = o.x + t * d.x, y = o.y + t * d.y;
  const bool inside = x >= 0 && x <= s.size.x && y >= 0 && y <= s.size.y;
  return inside && (s.cutout == Cutout::none || is_solid(s, x, y)) ? t : infinity;
}

// The intersections with both curved shapes are computed from the point of the ray nearest to their centre, so that
// small, distant radii lose no digits.
double hit_ellipsoid(const Surface& s, const Vec3& origin, const Vec3& direction, double t_min) {
  const Vec3 o{origin.x / s.size.x, origin.y / s.size.y, origin.z / s.size.z};
  const Vec3 d{direction.x / s.size.x, direction.y / s.size.y, direction.z / s.size.z};
  const double middle = -dot(o, d) / dot(d, d);
  const Vec3 nearest = o + middle * d;
  const double inside = 1 - dot(nearest, nearest);
  if (inside < 0) return infinity;
  const double half = std::sqrt(inside / dot(d, d));
  if (middle - half >= t_min) return middle - half;
  return middle + half >= t_min ? middle + half : infinity;
}

double hit_frustum(const Surface& s, const Vec3& origin, const Vec3& d, double t_min) {
  const Vec3 centre{0, 0, .5 * s.size.z};
  const double middle = -dot(origin - centre, d) / dot(d, d);
  const Vec3 o = origin + middle * d;
  const double slope = (s.size.y - s.size.x) / s.size.z;
  const double radius = s.size.x + slope * o.z;
  const double a = d.x * d.x + d.y * d.y - squared(slope * d.z);
  const double b = o.x * d.x + o.y * d.y - slope * d.z * radius;
  const double c = o.x * o.x + o.y * o.y - radius * radius;
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return infinity;
  const double q = b > 0 ? -(b + std::sqrt(discriminant)) : std::sqrt(discriminant) - b;
  double first = q / a, second = c / q;
  if (first > second) std::swap(first, second);
  for (const double t : {first, second}) {
    const double z = o.z + t * d.z;
    if (middle + t >= t_min && z >= 0 && z <= s.size.z) return middle + t;  // the condition is false if the root is NaN
  }
  return infinity;
}

}  // namespace

double Surface::hit(const Vec3& o, const Vec3& d, double t_min) const {
  switch (shape) {
    case Shape::panel: return hit_panel(*this, o, d, t_min);
    case Shape::ellipsoid: return hit_ellipsoid(*this, o, d, t_min);
    case Shape::frustum: return hit_frustum(*this, o, d, t_min);
    case Shape::solid: return solid->hit(o, d, t_min);
  }
  return infinity;
}

Vec3 Surface::normal(const Vec3& p) const {
  switch (shape) {
    case Shape::panel: return {0, 0, 1};
    case Shape::ellipsoid: return normalised({p.x / squared(size.x), p.y / squared(size.y), p.z / squared(size.z)});
    case Shape::frustum: {
      const double slope = (size.y - size.x) / size.z;
      return normalised({p.x, p.y, -slope * (size.x + slope * p.z)});
    }
    case Shape::solid: return solid->normal(p);
  }
  return {0, 0, 1};
}

void Surface::bounds(Vec3& low, Vec3& high) const {
  const double radius = std::max(size.x, size.y);
  switch (shape) {
    case Shape::panel: low = {0, 0, 0}, high = {size.x, size.y, 0}; break;
    case Shape::ellipsoid: low = -size, high = size; break;
    case Shape::frustum: low = {-radius, -radius, 0}, high = {radius, radius, size.z}; break;
    case Shape::solid: solid->bounds(low, high); break;
  }
}

}  // namespace stereopsis::synth
