#include "synth/world.hpp"

#include <algorithm>
#include <cmath>

#include "synth/response.hpp"

namespace stereopsis::synth {
namespace {

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

double light_on(const World& world, const Hit& hit) {
  const Surface& s = *hit.surface;
  const Vec3 outwards = s.frame.direction(s.normal(hit.local)), normal = hit.back ? -outwards : outwards;
  const bool baked = !hit.back && s.light;
  // The insides of objects are darker, because they receive less light from the sky and the sun.
  const bool inside = hit.back && s.texture.translucency == 0;
  double light = baked ? s.light->at(world, hit.local.x / s.size.x, hit.local.y / s.size.y)
                       : (inside ? .7 : 1) * open_light(world, normal, s.texture.translucency);
  const Vec3 p = s.frame.point(hit.local);
  if (world.hard_shadows) light += sunlight_at(world, p, normal, s.texture.translucency);
  return light + lamp_light(world, p, normal) + s.texture.emission;
}

}  // namespace

void World::shade_panels(double scale, const std::vector<std::uint16_t>& numbers) {
  if (light_spacing == 0) return;
  const Occluders all(surfaces);
  for (const std::uint16_t number : numbers) {
    Surface& s = surfaces[number];
    if (s.shape == Shape::panel && s.cutout != Cutout::leaf && s.cutout != Cutout::blob)
      s.light = std::make_unique<PanelLight>(*this, s, all, scale);
  }
}

Colour colour_of(const World& world, const Hit& hit) {
  if (!hit.surface) return colour_at(world.backdrop, hit.local);
  return light_on(world, hit) * hit.surface->colour(hit.local);
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
