#include "synth/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "synth/response.hpp"
#include "synth/rows.hpp"

namespace stereopsis::synth {
namespace {

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

struct Sphere {
  Vec3 centre;
  double radius;
};

Sphere bounding_sphere(const Surface& s) {
  Vec3 low, high;
  s.bounds(low, high);
  return {s.frame.point(.5 * (low + high)), .5 * length(high - low)};
}

// The surfaces that may block rays which start near a sphere: rays in any direction within `reach`, or towards the sun.
class Occluders {
 public:
  explicit Occluders(const std::vector<Surface>& surfaces) {
    for (const Surface& s : surfaces) all_.push_back({&s, bounding_sphere(s)});
  }

  Occluders within(const Sphere& from, double reach, const Surface* self) const {
    return filtered([&](const Candidate& c) {
      const Vec3 to = c.ball.centre - from.centre;
      const double distance = reach + c.ball.radius + from.radius;
      return c.surface != self && dot(to, to) < distance * distance;
    });
  }
  Occluders towards(const Sphere& from, const Vec3& direction, double spread, const Surface* self) const {
    return filtered([&](const Candidate& c) {
      const Vec3 to = c.ball.centre - from.centre;
      const double along = dot(to, direction), size = c.ball.radius + from.radius;
      const double distance = size + spread * (along + size);
      return c.surface != self && along > -size && dot(to, to) - along * along < distance * distance;
    });
  }
  // Returns whether a ray from p is blocked. `direction` must have unit length.
  bool block(const Vec3& p, const Vec3& direction, double reach) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Candidate& c) {
      const Frame& f = c.surface->frame;
      return c.surface->hit(f.local_point(p), f.local_direction(direction), 1e-3) < reach;
    });
  }

 private:
  struct Candidate {
    const Surface* surface;
    Sphere ball;
  };

  Occluders() = default;
  template <class Keep>
  Occluders filtered(Keep&& keep) const {
    Occluders kept;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(kept.all_), keep);
    return kept;
  }

  std::vector<Candidate> all_;
};

constexpr double corner_reach = 1.2;  // surfaces farther away do not darken a corner
constexpr double sun_radius = .09;    // radius of the sun at distance 1, which determines the softness of shadows

double light_at(const World& world, const Occluders& near, const Occluders& sunwards, const Surface& surface,
                const Vec3& p) {
  static const auto sky = disc_samples<16>();
  static const auto sun = disc_samples<24>();
  const Vec3& normal = surface.frame.z;
  const Occluders near_here = near.within({p, 0}, corner_reach, nullptr);
  double open = 0, lit = 0;
  for (const Vec3& s : sky) {
    const Vec3 direction = surface.frame.direction({s.x, s.y, std::sqrt(1 - s.x * s.x - s.y * s.y)});
    if (!near_here.block(p, direction, corner_reach)) open += 1.0 / sky.size();
  }
  const double facing = dot(normal, world.sun);
  if (facing > 0 && !world.hard_shadows) {
    const Vec3 sx = perpendicular(world.sun), sy = cross(world.sun, sx);
    const Occluders sunwards_here = sunwards.towards({p, 0}, world.sun, sun_radius, nullptr);
    for (const Vec3& s : sun) {
      const Vec3 direction = normalised(world.sun + sun_radius * (s.x * sx + s.y * sy));
      if (!sunwards_here.block(p, direction, infinity)) lit += 1.0 / sun.size();
    }
  }
  return world.ambient * (.25 + .75 * open) * (.8 + .2 * dot(normal, world.up)) +
         world.direct * std::max(facing, 0.0) * lit;
}

// Returns the light of lamps at a point.
double lamp_light(const World& world, const Vec3& p, const Vec3& normal) {
  double light = 0;
  for (const Lamp& lamp : world.lamps) {
    const Vec3 to = lamp.at - p;
    const double square = dot(to, to) + .02;
    light += lamp.strength * std::abs(dot(normal, to)) / (square * std::sqrt(square));
  }
  return light;
}

// Returns the light of the sun at a point where shadows are hard, and where some light shines through the surface.
double sunlight_at(const World& world, const Vec3& p, const Vec3& normal, double translucency) {
  const double facing = dot(normal, world.sun), share = facing > 0 ? facing : -translucency * facing;
  return share > 0 && world.sunlight.reaches(p, world.surfaces) ? world.direct * share : 0;
}

// Returns the light of the sky and the sun without shadows.
double open_light(const World& world, const Vec3& normal, double translucency) {
  const double facing = dot(normal, world.sun);
  const double sun = world.hard_shadows ? 0 : world.direct * std::max(facing, -translucency * facing);
  return world.ambient * (.72 + .28 * dot(normal, world.up)) + sun;
}

// Returns the point that is seen through a pane: on the ray from the camera, `behind` units behind the surface.
Vec3 behind_pane(const Surface& s, const Hit& hit, double position) {
  const Vec3 ray = hit.local - s.frame.local_point({position, 0, 0});
  const double across = std::abs(dot(ray, s.normal(hit.local)));
  return hit.local + (s.texture.behind / std::max(across, .2 * length(ray))) * ray;
}

// Returns what the backdrop sends to a mirror from a direction.
Colour mirrored_colour(const World& world, const Vec3& direction) {
  const double depth = std::max(std::abs(direction.z), .15);
  return colour_at(world.backdrop,
                   {farthest_depth * direction.x / depth, farthest_depth * direction.y / depth - world.horizon, 0});
}

}  // namespace

void World::bake_light(double scale, const std::vector<std::uint16_t>& numbers) {
  if (light_spacing == 0) return;
  const Occluders all(surfaces);
  for (const std::uint16_t number : numbers) {
    Surface& s = surfaces[number];
    if (s.shape != Shape::panel || s.cutout == Cutout::leaf || s.cutout == Cutout::blob) continue;
    const Sphere ball = bounding_sphere(s);
    const Occluders near = all.within(ball, corner_reach, &s), sunwards = all.towards(ball, sun, sun_radius, &s);
    const double depth = std::clamp(ball.centre.z - ball.radius, nearest_depth, farthest_depth);
    const auto texels = [&](double side) {
      return static_cast<int>(std::clamp(side * scale / (light_spacing * depth), 2.0, 160.0));
    };
    s.light.width = texels(s.size.x), s.light.height = texels(s.size.y);
    std::vector<float> light(static_cast<std::size_t>(s.light.width) * s.light.height);
    for_rows(s.light.height, [&](int first, int last) {
      for (int y = first; y < last; ++y)
        for (int x = 0; x < s.light.width; ++x) {
          const Vec3 p{s.size.x * x / (s.light.width - 1), s.size.y * y / (s.light.height - 1), 1e-4};
          light[static_cast<std::size_t>(y) * s.light.width + x] =
              static_cast<float>(light_at(*this, near, sunwards, s, s.frame.point(p)));
        }
    });
    s.light.light = std::move(light);
  }
}

namespace {

double light_on(const World& world, const Hit& hit) {
  const Surface& s = *hit.surface;
  const Vec3 outwards = s.frame.direction(s.normal(hit.local)), normal = hit.back ? -outwards : outwards;
  const bool baked = s.shape == Shape::panel && !hit.back && !s.light.light.empty();
  // The insides of objects are darker, because they receive less light from the sky and the sun.
  const bool inside = hit.back && s.texture.translucency == 0;
  double light = baked ? s.light.at(hit.local.x / s.size.x, hit.local.y / s.size.y)
                       : (inside ? .7 : 1) * open_light(world, normal, s.texture.translucency);
  const Vec3 p = s.frame.point(hit.local);
  if (world.hard_shadows) light += sunlight_at(world, p, normal, s.texture.translucency);
  return light + lamp_light(world, p, normal) + s.texture.emission;
}

}  // namespace

Colour colour_of(const World& world, const Hit& hit) {
  if (!hit.surface) return colour_at(world.backdrop, hit.local);
  return light_on(world, hit) * colour_at(hit.surface->texture, hit.local);
}

// A glossy surface mirrors a blurred image of the sky and the surroundings, and shows a highlight of the sun.
Colour seen_colour_of(const World& world, const Hit& hit, double position) {
  Colour colour = hit.surface && hit.surface->texture.behind > 0
                      ? light_on(world, hit) * colour_at(hit.surface->texture, behind_pane(*hit.surface, hit, position))
                      : colour_of(world, hit);
  if (hit.surface && (hit.surface->texture.gloss > 0 || hit.surface->texture.mirror > 0)) {
    const Surface& s = *hit.surface;
    const Vec3 to_camera = normalised(Vec3{position, 0, 0} - s.frame.point(hit.local));
    const Vec3 outwards = s.frame.direction(s.normal(hit.local)), normal = hit.back ? -outwards : outwards;
    const double facing = dot(normal, to_camera);
    const Vec3 mirrored = 2 * facing * normal - to_camera;
    const double height = dot(mirrored, world.up);
    const double around = .35 + .45 * std::clamp(.5 + 2 * height, 0.0, 1.0) +
                          .5 * (noise(2.5 * mirrored + Vec3{9, 9, 9}, s.texture.seed) - .5);
    double highlight = std::max(dot(normal, normalised(world.sun + to_camera)), 0.0);
    for (int i = 0; i < 6; ++i) highlight *= highlight;  // the highlight is raised to the power of 64
    const double grazing = 1 - std::clamp(facing, 0.0, 1.0);
    colour = (1 - .5 * s.texture.gloss) * colour;
    const double light = s.texture.gloss * ((.15 + .7 * grazing * grazing * grazing) * around + .9 * highlight);
    colour += Colour{light, light, light};
    if (s.texture.mirror > 0) {
      const double share = s.texture.mirror * (.06 + .94 * grazing * grazing * grazing * grazing);
      colour = mix(colour, mirrored_colour(world, mirrored), share);
    }
  }
  return world.haze == 0 ? colour : mix(world.haze_colour, colour, power(1 - world.haze, hit.depth));
}

View::View(const World& world, Size size, double scale, double position, double x0, double y0)
    : world_(&world),
      scale_(scale),
      cx_(.5 * (size.width - 1) - x0),
      cy_(.5 * (size.height - 1) - y0),
      position_(position) {
  for (const Surface& s : world.surfaces) {
    Seen seen{s.frame.local_point({position, 0, 0}), infinity, infinity, -infinity, -infinity};
    Vec3 low, high;
    s.bounds(low, high);
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 p =
          s.frame.point({corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z});
      if (p.z < .1) {  // the surface reaches next to or behind the camera, so the surface has no bounds in the image
        seen.x0 = seen.y0 = -infinity, seen.x1 = seen.y1 = infinity;
        break;
      }
      const double x = cx_ + scale * (p.x - position) / p.z, y = cy_ + scale * p.y / p.z;
      seen.x0 = std::min(seen.x0, x), seen.x1 = std::max(seen.x1, x);
      seen.y0 = std::min(seen.y0, y), seen.y1 = std::max(seen.y1, y);
    }
    seen_.push_back(seen);
  }
}

Candidates View::candidates(double x0, double y0, double x1, double y1) const {
  constexpr double margin = 1e-3;  // margin in pixels, which covers the rounding of the bounds
  Candidates found;
  for (std::size_t i = 0; i < seen_.size(); ++i)
    if (seen_[i].x0 <= x1 + margin && seen_[i].x1 >= x0 - margin && seen_[i].y0 <= y1 + margin &&
        seen_[i].y1 >= y0 - margin)
      found.push_back(static_cast<std::uint16_t>(i));
  return found;
}

Hit View::trace(double x, double y, const Candidates& candidates) const {
  const Vec3 direction{(x - cx_) / scale_, (y - cy_) / scale_, 1};
  Hit hit;
  Vec3 local_direction;
  for (const std::uint16_t i : candidates) {
    const Surface& s = world_->surfaces[i];
    const Vec3 d = s.frame.local_direction(direction);
    const double depth = s.hit(seen_[i].camera, d, nearest_depth);
    if (depth >= hit.depth) continue;
    hit.surface = &s;
    hit.depth = depth;
    hit.local = seen_[i].camera + depth * d;
    local_direction = d;
  }
  if (!hit.surface) {
    hit.local = {position_ + hit.depth * direction.x, hit.depth * direction.y - world_->horizon, 0};
  } else if (hit.surface->shape == Shape::panel) {
    hit.local.z = 0;
    hit.back = local_direction.z > 0;
  } else {
    hit.back = dot(hit.surface->normal(hit.local), local_direction) > 0;
  }
  return hit;
}

RigGeometry::RigGeometry(Size size_, int disparities_, double focal_length)
    : size(size_),
      disparities(disparities_),
      scale(focal_length > 0 ? focal_length * size_.width
                             : std::sqrt(static_cast<double>(size_.width) * size_.height / 3)) {}

}  // namespace stereopsis::synth
