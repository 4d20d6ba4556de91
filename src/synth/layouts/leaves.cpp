#include "synth/layouts/layouts.hpp"

#include <cmath>

#include "synth/builder.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {

void leaves(Builder& b) {
  Random& r = b.random;
  b.world.light_spacing = 0;
  b.world.backdrop = anything(r, b.pixel(farthest_depth));
  b.world.sun = normalised({r.between(-.6, .6), r.between(-.8, .2), -1});
  for (const double q : {.06, .11}) {
    const double pixel = b.pixel(1 / q);
    const Vec3 facing = direction(r, .3, .3);
    Surface& s = b.board({0, 0, 1 / q}, facing, 90, 70, anything(r, pixel));
    if (q < .1) continue;
    s.cutout = Cutout::square_holes;  // the farthest surface is visible through the holes
    s.pitch = 2.3;
  }
  // A part of the image remains free, so that distant surfaces are visible there.
  const double clear_x = r.between(-.8, .8), clear_y = r.between(-.8, .8);
  const int count = 60 + r.below(260);
  const double most = r.between(.3, .95), coarse = r.between(.2, .7);
  for (int i = 0; i < count; ++i) {
    const double u = r.between(0, 1), q = .1 + (most - .1) * u, x = r.between(-1.1, 1.1), y = r.between(-1.1, 1.1);
    const double size = log_between(r, .04, coarse), slim = r.between(.3, 1), roll = r.between(-1, 1);
    const Vec3 facing = r.one_in(3) ? direction(r, .9, .9) : direction(r, .15, .15);
    const Texture t = anything(r, b.pixel(1 / q));
    const int kind = r.below(6);
    if (std::abs(x - clear_x) < .3 + size && std::abs(y - clear_y) < .3 + size) continue;
    if (kind == 5) {
      floating_thing(b, b.in_view(x, y, q), size * b.half_height / q, t);
      continue;
    }
    const Frame level = {b.in_view(x, y, q), normalised(cross({0, 1, 0}, facing)), {}, facing};
    const Vec3 up = cross(facing, level.x);
    const double n = 1 + roll * roll, c = (1 - roll * roll) / n, s = 2 * roll / n;
    const double wide = 2 * size * b.half_height / q, high = slim * wide;
    const Vec3 along = c * level.x + s * up, across = c * up + -s * level.x;
    Surface& leaf = b.panel(level.origin - .5 * wide * along - .5 * high * across, wide * along, high * across, t);
    constexpr Cutout cutouts[] = {Cutout::none, Cutout::corners, Cutout::blob, Cutout::blob, Cutout::leaf};
    leaf.cutout = cutouts[kind];
  }
  nearest_thing(b);
}

}  // namespace stereopsis::synth
