#include "synth/layouts/layouts.hpp"

#include "synth/builder.hpp"
#include "synth/layouts/outdoors.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {
namespace {

void bales(Builder& b, const Land& land, double metre) {
  Random& r = b.random;
  const Texture straw = make(Pattern::rough, {.8, .66, .38}, {.5, .38, .18}, 4 * b.pixel(2), .2);
  for (int i = r.below(6); i > 0; --i) {
    const double z = r.between(2, 12), x = r.between(-.8, .8) * b.half_width * z, radius = r.between(.5, .8) * metre;
    const Vec3 axis = metre * Vec3{r.between(-.6, .6), 0, r.between(-.6, .6)}, at = land.point(x, z, radius);
    b.rod(at - axis, at + axis, radius, straw);
    b.disc(at - axis, -axis, radius, straw);
    b.disc(at + axis, axis, radius, straw);
  }
}

}  // namespace

void hills(Builder& b) {
  Random& r = b.random;
  const double ground = -b.half_height / .92, metre = -ground / 1.65;
  open_sky(b, -ground);
  const Land land(b, ground, r.between(.01, .05));
  land.cover(-40, 40, grassy(r, b.pixel(2)));
  for (int i = 3 + r.below(6); i > 0; --i) {
    const double z = log_between(r, 4, 18), x = r.between(-1, 1) * b.half_width * z, high = r.between(.02, .12) * z;
    const double wide = r.between(.3, .8) * z, deep = r.between(.15, .3) * z;
    hill(b, land.point(x, z, high), {wide, 3 * high, deep});
  }
  const double track = r.between(-2, 2) * metre, wide = r.between(2, 4) * metre;
  if (r.one_in(2)) land.cover(track, track + wide, tarmac(r, b.pixel(2)), .02 * metre);
  for (int i = 3 + r.below(8); i > 0; --i) {
    const double z = log_between(r, 2, 16), x = r.between(-1, 1) * b.half_width * z, height = r.between(3, 12) * metre;
    leafy_tree(b, land.point(x, z), height);
  }
  for (int i = 2 + r.below(4); i > 0; --i) {
    const double z = log_between(r, 2.5, 16), x = r.between(-1, 1) * b.half_width * z, half = r.between(.1, .4) * z;
    const double back = r.between(-.2, .2) * z, height = r.between(1, 5) * metre;
    hedge(b, land.point(x - half, z), land.point(x + half, z + back), height);
  }
  for (int i = 1 + r.below(3); i > 0; --i) {
    const double z0 = r.between(1.3, 8), z1 = r.between(1.3, 12), height = r.between(.8, 1.5) * metre;
    const double x0 = -1.1 * b.half_width * z0, x1 = r.between(.2, 1.1) * b.half_width * z1;
    fence(b, land.point(x0, z0), land.point(x1, z1), height);
  }
  bales(b, land, metre);
  for (int i = 0; i < 30; ++i) {
    const double z = r.between(1.15, 3), x = r.between(-1, 1) * b.half_width * z, height = r.between(.1, .5) * metre;
    grass(b, land.point(x, z), height);
  }
  const double z = r.between(4, 9), x = r.between(-.8, .8) * b.half_width * z;
  if (r.one_in(2)) building(b, land.point(x, z), metre * Vec3{9, 5, 7}, metre);
  if (r.one_in(2)) nearest_post(b);
}

}  // namespace stereopsis::synth
