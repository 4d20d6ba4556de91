#include "synth/layouts/layouts.hpp"

#include "synth/builder.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {

void clutter(Builder& b) {
  Random& r = b.random;
  b.world.light_spacing = light_spacing;
  const bool on_floor = !r.one_in(3);
  const double floor = -b.half_height / r.between(.6, .95), q_wall = r.between(.06, .3);
  b.world.backdrop = anything(r, b.pixel(farthest_depth));
  b.world.sun = normalised({r.between(-.8, .8), r.between(-1, -.2), r.between(-1, -.2)});
  const Vec3 top = b.in_view(0, r.between(.2, .8), q_wall);  // top of a wall, above which distant things are visible
  const Vec3 along{80, 0, r.between(-10, 10)}, upwards{0, 40, r.between(-4, 4)};
  b.panel(top - .5 * along - upwards, along, upwards, anything(r, b.pixel(top.z)));
  b.panel({-60, -60, 17}, {120, 0, 0}, {0, 120, 0}, anything(r, b.pixel(17)));
  if (on_floor) b.panel({-40, floor, .9}, {80, 0, 0}, {0, 0, 19}, anything(r, b.pixel(2)));
  const int count = 20 + r.below(70);
  for (int i = 0; i < count; ++i) {
    const double q = q_wall + (.9 - q_wall) * r.between(0, 1), depth = 1 / q;
    const double x = r.between(-1, 1), y = r.between(-.9, .9);
    const double size = log_between(r, .05, .6) * b.half_height * depth;
    const Texture t = anything(r, b.pixel(depth));
    if (on_floor && !r.one_in(3))
      standing_thing(b, {x * b.half_width * depth, floor, depth}, size, t);
    else
      floating_thing(b, b.in_view(x, y, q) + Vec3{0, 0, .5 * size}, size, t);
  }
  for (int i = r.below(4); i > 0; --i) {
    const double q = r.between(.2, .85), from = r.between(-1, 1), to = r.between(-1, 1);
    wire(b, b.in_view(-1.2, from, q), b.in_view(1.2, to, .8 * q), .1 / q, r.between(.8, 3));
  }
  nearest_thing(b);
}

}  // namespace stereopsis::synth
