#include "furnish.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace stereopsis::meshes {
namespace {

using synth::Builder;
using synth::dot;
using synth::Hit;
using synth::infinity;
using synth::Random;
using synth::RigGeometry;
using synth::Surface;

constexpr double nearest = 1.1;  // depth of the nearest part of a mesh; the cameras see nothing before 1.05
constexpr double farthest = 14;  // depth of the farthest place
constexpr int probes = 5;        // rays down onto the footprint of a mesh, along each side

// A mesh that is about to be placed, in the coordinates of the builder.
struct Thing {
  Vec3 at;  // the middle of its bottom
  Vec3 size;
  double tan_half;

  Vec3 corner(double x, double z) const { return synth::turned(at, tan_half).point({x * size.x, 0, z * size.z}); }
  double reach() const { return .5 * std::hypot(size.x, size.z); }
};

class Room {
 public:
  Room(Builder& b, const RigGeometry& rig) : b_(b), rig_(rig) {}

  // Returns a point on a random level surface that the left camera sees.
  std::optional<Vec3> place() const {
    Random& r = b_.random;
    const double x = r.between(0, rig_.size.width), share = r.between(0, 1), y = rig_.size.height * (1 - share * share);
    const synth::View view(b_.world, rig_.size, rig_.scale, 0);
    const Hit hit = view.trace(x, y, view.candidates(x, y, x, y));
    if (!hit.surface || hit.depth > farthest) return {};
    const Vec3 outwards = hit.surface->frame.direction(hit.surface->normal(hit.local));
    if (dot(hit.back ? -outwards : outwards, b_.world.up) < .8) return {};
    return b_.frame.local_point(hit.surface->frame.point(hit.local));
  }

  // Lowers a thing until it touches what is below. Returns whether it stands there, and hits nothing beside it.
  bool settle(Thing& thing) const {
    const double top = thing.at.y + 1.6 * thing.size.y;
    double levels[probes * probes], highest = -infinity;
    for (int i = 0; i < probes * probes; ++i) {
      const Vec3 p = thing.corner((i % probes) / (probes - 1.0) - .5, (i / probes) / (probes - 1.0) - .5);
      levels[i] = top - distance({p.x, top, p.z}, {0, -1, 0});
      highest = std::max(highest, levels[i]);
    }
    if (highest > thing.at.y + .6 * thing.size.y) return false;
    const auto carries = [&](double level) { return level > highest - .1 * thing.size.y; };
    if (2 * std::count_if(std::begin(levels), std::end(levels), carries) < probes * probes) return false;
    thing.at.y = highest;
    return is_free(thing);
  }

 private:
  bool is_free(const Thing& thing) const {
    const Vec3 middle = thing.at + Vec3{0, .5 * thing.size.y, 0};
    for (int i = 0; i < 8; ++i) {
      const double angle = i * .785398;
      if (distance(middle, {std::cos(angle), 0, std::sin(angle)}) < .9 * thing.reach()) return false;
    }
    return true;
  }

  // Returns the distance along a ray to the first surface.
  double distance(const Vec3& from, const Vec3& direction) const {
    const Vec3 o = b_.frame.point(from), d = b_.frame.direction(direction);
    double least = infinity;
    for (const Surface& s : b_.world.surfaces)
      least = std::min(least, s.hit(s.frame.local_point(o), s.frame.local_direction(d), 0));
    return least;
  }

  Builder& b_;
  const RigGeometry& rig_;
};

double log_between(Random& r, double low, double high) { return low * std::pow(high / low, r.between(0, 1)); }

Colour tint_of(Random& r) {
  const double light = r.between(.6, 1.2), red = r.between(.75, 1.2), blue = r.between(.75, 1.2);
  return r.one_in(3) ? Colour{light * red, light, light * blue} : Colour{light, light, light};
}

void add(Builder& b, const Item& item, const Thing& thing) {
  Random& r = b.random;
  const Colour tint = tint_of(r);
  const auto seed = static_cast<std::uint32_t>(r.next());
  Surface& s = b.solid(thing.at, thing.tan_half,
                       std::make_shared<Placed>(item.mesh(), thing.size, tint, b.pixel(thing.at.z), seed));
  if (item.kind == "vehicle" || r.one_in(5)) s.texture.gloss = r.between(.1, .4), s.texture.mirror = r.between(0, .5);
}

}  // namespace

void furnish(const Pack& pack, Builder& b, const RigGeometry& rig) {
  Random& r = b.random;
  const std::vector<std::string> kinds = b.world.hard_shadows
                                             ? std::vector<std::string>{"vehicle", "person", "plant", "outdoor"}
                                             : std::vector<std::string>{"furniture", "small", "person", "plant"};
  const double metre = b.half_height * log_between(r, .5, 3.5);
  const Room room(b, rig);
  int wanted = 4 + r.below(37);
  for (int attempt = 0; attempt < 120 && wanted > 0; ++attempt) {
    const auto place = room.place();
    const Item& item = pack.draw(r, kinds);
    Thing thing{place.value_or(Vec3{}), metre * log_between(r, .7, 1.5) * item.size, r.between(-1, 1)};
    if (r.one_in(2)) thing.tan_half = thing.tan_half < 0 ? -.05 * thing.tan_half : 1;  // many things stand in line
    const double rows = rig.scale * thing.size.y / std::max(thing.at.z, nearest);
    if (!place || rows < 5 || rows > .8 * rig.size.height || thing.at.z - thing.reach() < nearest) continue;
    if (!room.settle(thing)) continue;
    add(b, item, thing);
    --wanted;
  }
}

}  // namespace stereopsis::meshes
