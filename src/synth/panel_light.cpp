#include "synth/panel_light.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "synth/world.hpp"

namespace stereopsis::synth {
namespace {

constexpr double corner_reach = 1.2;  // surfaces farther away do not darken a corner
constexpr double sun_radius = .09;    // radius of the sun at distance 1, which determines the softness of shadows

// Returns evenly distributed points on a unit disc. The points lie on a golden-angle spiral, which is computed by
// complex multiplication.
template <int n>
std::array<Vec3, n> disc_samples() {
  constexpr double cosine = -0.7373688780783197, sine = 0.6754902942615238;
  std::array<Vec3, n> samples;
  double x = 1, y = 0;
  for (int i = 0; i < n; ++i) {
    const double r = std::sqrt((i + .5) / n);
    samples[i] = {r * x, r * y, 0};
    const double turned_x = x * cosine - y * sine;
    y = x * sine + y * cosine;
    x = turned_x;
  }
  return samples;
}

Vec3 perpendicular(const Vec3& v) { return normalised(cross(v, std::abs(v.x) < .6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0})); }

}  // namespace

Sphere bounding_sphere(const Surface& s) {
  Vec3 low, high;
  s.bounds(low, high);
  return {s.frame.point(.5 * (low + high)), .5 * length(high - low)};
}

Occluders::Occluders(const std::vector<Surface>& surfaces) {
  for (const Surface& s : surfaces) all_.push_back({&s, bounding_sphere(s)});
}

template <class Keep>
Occluders Occluders::filtered(Keep&& keep) const {
  Occluders kept;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(kept.all_), keep);
  return kept;
}

Occluders Occluders::within(const Sphere& from, double reach, const Surface* self) const {
  return filtered([&](const Candidate& c) {
    const Vec3 to = c.ball.centre - from.centre;
    const double distance = reach + c.ball.radius + from.radius;
    return c.surface != self && dot(to, to) < distance * distance;
  });
}

Occluders Occluders::towards(const Sphere& from, const Vec3& direction, double spread, const Surface* self) const {
  return filtered([&](const Candidate& c) {
    const Vec3 to = c.ball.centre - from.centre;
    const double along = dot(to, direction), size = c.ball.radius + from.radius;
    const double distance = size + spread * (along + size);
    return c.surface != self && along > -size && dot(to, to) - along * along < distance * distance;
  });
}

bool Occluders::block(const Vec3& p, const Vec3& direction, double reach) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Candidate& c) {
    const Frame& f = c.surface->frame;
    return c.surface->hit(f.local_point(p), f.local_direction(direction), 1e-3) < reach;
  });
}

PanelLight::PanelLight(const World& world, const Surface& panel, const Occluders& all, double scale)
    : panel_(panel),
      near_(all.within(bounding_sphere(panel), corner_reach, &panel)),
      sunwards_(all.towards(bounding_sphere(panel), world.sun, sun_radius, &panel)) {
  const Sphere ball = bounding_sphere(panel);
  const double depth = std::clamp(ball.centre.z - ball.radius, nearest_depth, farthest_depth);
  const auto points = [&](double side) {
    return static_cast<int>(std::clamp(side * scale / (world.light_spacing * depth), 2.0, 160.0));
  };
  width_ = points(panel.size.x), height_ = points(panel.size.y);
  points_ = std::vector<std::atomic<float>>(static_cast<std::size_t>(width_) * height_);
  for (std::atomic<float>& point : points_) point.store(std::numeric_limits<float>::quiet_NaN());
}

double PanelLight::at(const World& world, double x, double y) const {
  const double px = std::clamp(x, 0.0, 1.0) * (width_ - 1), py = std::clamp(y, 0.0, 1.0) * (height_ - 1);
  const int ix = std::min(static_cast<int>(px), width_ - 2), iy = std::min(static_cast<int>(py), height_ - 2);
  const double fx = px - ix, fy = py - iy;
  const auto row = [&](int number) {
    const float left = point(world, ix, number);
    return left + (point(world, ix + 1, number) - left) * fx;
  };
  const double top = row(iy);
  return top + (row(iy + 1) - top) * fy;
}

float PanelLight::point(const World& world, int x, int y) const {
  std::atomic<float>& kept = points_[static_cast<std::size_t>(y) * width_ + x];
  float light = kept.load(std::memory_order_relaxed);
  if (std::isnan(light)) {
    const Vec3 p{panel_.size.x * x / (width_ - 1), panel_.size.y * y / (height_ - 1), 1e-4};
    light = static_cast<float>(compute(world, panel_.frame.point(p)));
    kept.store(light, std::memory_order_relaxed);
  }
  return light;
}

double PanelLight::compute(const World& world, const Vec3& p) const {
  static const auto of_sky = disc_samples<16>();
  static const auto of_sun = disc_samples<24>();
  const Frame& frame = panel_.frame;
  const Occluders near_here = near_.within({p, 0}, corner_reach, nullptr);
  double open = 0, lit = 0;
  for (const Vec3& s : of_sky) {
    const Vec3 direction = frame.direction({s.x, s.y, std::sqrt(1 - s.x * s.x - s.y * s.y)});
    if (!near_here.block(p, direction, corner_reach)) open += 1.0 / of_sky.size();
  }
  const double facing = dot(frame.z, world.sun);
  if (facing > 0 && !world.hard_shadows) {
    const Vec3 sx = perpendicular(world.sun), sy = cross(world.sun, sx);
    const Occluders sunwards_here = sunwards_.towards({p, 0}, world.sun, sun_radius, nullptr);
    for (const Vec3& s : of_sun) {
      const Vec3 direction = normalised(world.sun + sun_radius * (s.x * sx + s.y * sy));
      if (!sunwards_here.block(p, direction, infinity)) lit += 1.0 / of_sun.size();
    }
  }
  return world.ambient * (.25 + .75 * open) * (.8 + .2 * dot(frame.z, world.up)) +
         world.direct * std::max(facing, 0.0) * lit;
}

}  // namespace stereopsis::synth
