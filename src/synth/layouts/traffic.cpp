#include "synth/layouts/layouts.hpp"

#include <algorithm>
#include <cmath>

#include "synth/builder.hpp"
#include "synth/layouts/outdoors.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {
namespace {

constexpr double film = 3e-4;  // height of paint above the ground

// A road along z, seen from a car, which is 1.65 m high.
struct Road {
  Builder& b;
  Land land;
  double metre;
  double left, right;  // edges of the road
  Texture paint;

  Vec3 beside(double side, double metres, double z, double raised = 0) const {
    return land.point((side < 0 ? left : right) + side * metres * metre, z, raised);
  }
};

Texture road_paint(Random& r) {
  const double light = r.between(.6, 1), worn = r.between(.6, 1);
  return make(Pattern::clouds, grey_of(light), grey_of(worn * light), .2, r.between(.02, .12));
}

// Asphalt with little contrast, or with stones and cracks.
Texture road_surface(Random& r, double pixel) {
  if (r.one_in(3)) return tarmac(r, pixel);
  const double light = r.between(.3, .6), contrast = r.between(.8, .97), cell = log_between(r, 3, 40) * pixel;
  return make(Pattern::rough, grey_of(light), grey_of(contrast * light), cell, r.between(.02, .12));
}

void paint_line(const Road& road, double x, double z0, double z1, double width) {
  road.land.cover(x - .5 * width, x + .5 * width, road.paint, film, z0, z1);
}

void add_markings(const Road& road) {
  Random& r = road.b.random;
  const double m = road.metre, width = r.between(.1, .2) * m, lane = r.between(2.8, 3.8) * m;
  const double dash = r.between(2, 6) * m, gap = r.between(2, 8) * m, start = r.between(.9, 1.5);
  const bool solid = r.one_in(4);
  for (double x = road.left + lane; x < road.right - .6 * lane; x += lane) {
    if (solid) paint_line(road, x, .9, 20, width);
    for (double z = start; !solid && z < 16; z += dash + gap) paint_line(road, x, z, z + dash, width);
  }
  for (const double x : {road.left + 1.5 * width, road.right - 1.5 * width})
    if (r.one_in(2)) paint_line(road, x, .9, 20, width);
  const double z = r.between(1.3, 5);
  if (r.one_in(3)) road.land.cover(road.left, road.right, road.paint, 1.2 * film, z, z + .4 * m);
  if (r.one_in(4))  // a crossing for pedestrians
    for (double x = road.left + .3 * m; x < road.right; x += m) paint_line(road, x, z + 1.2 * m, z + 4 * m, .5 * m);
}

// Patches of newer asphalt, and covers of manholes.
void add_repairs(const Road& road) {
  Random& r = road.b.random;
  for (int i = r.below(5); i > 0; --i) {
    const double z = r.between(1.2, 8), x = r.between(road.left, road.right), long_side = r.between(.8, 8) * road.metre;
    const double wide = r.between(.4, 2) * road.metre;
    road.land.cover(x, std::min(x + wide, road.right), road_surface(r, road.b.pixel(z)), .5 * film, z, z + long_side);
  }
  const double z = r.between(1.5, 5), x = r.between(road.left, road.right);
  if (r.one_in(2)) road.b.disc(road.land.point(x, z, .6 * film), {0, 1, 0}, .3 * road.metre, plain(grey_of(.2), .2));
}

void add_vehicles(const Road& road) {
  Random& r = road.b.random;
  for (int i = 2 + r.below(6); i > 0; --i) {
    const double z = log_between(r, 1.9, 14), lane = r.between(.15, .35) * (road.right - road.left);
    const bool oncoming = r.one_in(2), parked = r.one_in(3), large = r.one_in(4);
    double x = .5 * (road.left + road.right) + (oncoming ? -lane : lane);
    if (parked) x = oncoming ? road.left - 1.2 * road.metre : road.right + 1.2 * road.metre;
    const double turn = r.one_in(4) ? r.between(-1, 1) : 0;
    if (large) {
      van(road.b, road.land.point(x, z + 1.5 * road.metre), oncoming, road.metre);
    } else {
      saloon(road.b, road.land.point(x, z), turn, oncoming, road.metre);
    }
  }
}

void add_posts(const Road& road, double side) {
  Random& r = road.b.random;
  const double spacing = r.between(12, 35) * road.metre, start = r.between(1.5, 4);
  const bool wired = r.one_in(2);
  for (double z = start; z < 17; z += spacing) {
    const Vec3 foot = road.beside(side, .6, z);
    lamp_post(road.b, foot, -side, road.metre);
    if (wired) {
      const double height = 6 * road.metre;
      wire(road.b, foot + Vec3{0, height, 0}, road.beside(side, .6, z + spacing, height), .3 * road.metre, 1);
    }
  }
  for (int i = r.below(4); i > 0; --i) {
    const double z = r.between(1.6, 9), metres = r.between(.3, 1.5);
    const Vec3 foot = road.beside(side, metres, z);
    if (r.one_in(3)) {
      traffic_light(road.b, foot, road.metre);
    } else {
      traffic_sign(road.b, foot, road.metre);
    }
  }
}

void add_trees(const Road& road, double side, double metres) {
  Random& r = road.b.random;
  const double spacing = r.between(5, 14) * road.metre;
  for (double z = r.between(1.6, 4); z < 17; z += spacing * r.between(.6, 1.5)) {
    const double aside = metres + r.between(0, 4), height = r.between(4, 13) * road.metre;
    leafy_tree(road.b, road.beside(side, aside, z), height);
  }
}

void add_buildings(const Road& road, double side, double metres) {
  Random& r = road.b.random;
  for (double z = r.between(1.6, 5); z < 18;) {
    const double deep = r.between(8, 25) * road.metre, wide = r.between(7, 14) * road.metre;
    const double height = r.between(4, 14) * road.metre, aside = metres + r.between(0, 3);
    const Vec3 near = road.beside(side, aside, z + .5 * deep);
    building(road.b, near + Vec3{.5 * side * wide, 0, 0}, {wide, height, deep}, road.metre);
    z += deep + (r.one_in(2) ? r.between(2, 15) * road.metre : 0);
  }
}

// Adds what stands along one side: trees, hedges, buildings, walls, fences or open fields, or several of these.
void add_roadside(const Road& road, double side) {
  Random& r = road.b.random;
  const double m = road.metre, pavement = r.between(0, 4);
  const bool kerb = r.one_in(2);
  if (kerb) {
    const double edge = side < 0 ? road.left : road.right, outer = edge + side * pavement * m;
    const Texture slabs = r.one_in(2) ? tarmac(r, road.b.pixel(2)) : make(Pattern::bricks, stone, .8 * stone, m, .1);
    road.land.cover(std::min(edge, outer), std::max(edge, outer), slabs, .1 * m);
    for (double z = .9; z < 16; z += 2.1) {
      const Vec3 from = road.land.point(edge, z), along = road.land.point(edge, z + 2.1) - from;
      road.b.panel(from, along, upright(along, .1 * m), plain(stone, .1));
    }
  }
  add_posts(road, side);
  const double border = pavement + r.between(.5, 3);
  const int kind = r.below(6);
  if (kind == 0 || kind == 1) add_buildings(road, side, border + 2);
  if (kind == 2 || r.one_in(4)) {
    const double height = r.between(1, 3) * m;
    for (double z = 1.3; z < 13; z += 2.6)
      hedge(road.b, road.beside(side, border, z), road.beside(side, border, z + 2.5), height);
  }
  if (kind == 3 || r.one_in(5)) {
    const double height = r.between(.8, 1.8) * m;
    fence(road.b, road.beside(side, border - .3, 1.4), road.beside(side, border, 11), height);
  }
  if (kind == 4) {
    const Texture wall = painted(r, road.b.pixel(3));
    const Vec3 from = road.beside(side, border, 1.3), along = road.beside(side, border, 12) - from;
    road.b.panel(from, along, upright(along, r.between(1.5, 4) * m), wall);
  }
  if (kind != 0) add_trees(road, side, border + 1);
}

// Closes the view in the distance: woods and hills.
void add_distance(const Road& road) {
  Random& r = road.b.random;
  for (int i = r.below(5); i > 0; --i) {
    const double x = r.between(-12, 12), z = r.between(13, 18), high = r.between(4, 20) * road.metre;
    const double wide = r.between(3, 9), deep = r.between(1, 3);
    hill(road.b, road.land.point(x, z, high), {wide, 2 * high, deep});
  }
  for (int i = 2 + r.below(5); i > 0; --i) {
    const double x = r.between(-11, 11), z = r.between(10, 18), height = r.between(5, 11) * road.metre;
    if (std::abs(x) > 1.5) hedge(road.b, road.land.point(x - 1.5, z), road.land.point(x + 1.5, z), height);
  }
}

}  // namespace

void traffic(Builder& b) {
  Random& r = b.random;
  const double ground = -b.half_height / .92, metre = -ground / 1.65;
  open_sky(b, -ground);
  const double width = r.between(6.5, 15) * metre, offset = r.between(.25, .75) * width;
  const Land land(b, ground, r.between(0, .02));
  const Road road{b, land, metre, -offset, width - offset, road_paint(r)};
  land.cover(-40, road.left, grassy(r, b.pixel(2)), .02 * metre);
  land.cover(road.right, 40, grassy(r, b.pixel(2)), .02 * metre);
  land.cover(road.left, road.right, road_surface(r, b.pixel(2)));
  if (r.one_in(3)) {  // a crossing road
    const double z = r.between(2, 6), deep = r.between(6, 10) * metre;
    land.cover(-40, 40, road_surface(r, b.pixel(z)), .03 * metre, z, z + deep);
  }
  add_repairs(road);
  add_markings(road);
  for (const double side : {-1.0, 1.0}) add_roadside(road, side);
  add_vehicles(road);
  add_distance(road);
  if (r.one_in(4)) nearest_post(b);
}

}  // namespace stereopsis::synth
