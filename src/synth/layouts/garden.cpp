#include "synth/layouts/layouts.hpp"

#include <algorithm>

#include "synth/builder.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {

void garden(Builder& b) {
  Random& r = b.random;
  b.world.light_spacing = light_spacing;
  const double ground = -b.half_height / r.between(.7, .95);
  b.world.backdrop = outdoors();
  b.world.horizon = r.between(-.5, 1);
  b.world.haze = r.one_in(2) ? 0 : log_between(r, .003, .03);
  b.world.sun = normalised({r.between(-.8, .8), r.between(-1, -.4), r.between(-1, .2)});
  const Texture gravel = make(Pattern::stones, stone, .5 * stone, r.between(5, 20) * b.pixel(2), .2);
  b.panel({-60, ground, .9}, {120, 0, 0}, {0, 0, 25}, r.one_in(3) ? gravel : greenery(r, b.pixel(2)));
  const auto on_ground = [&](double x, double q) { return Vec3{x * b.half_width / q, ground, 1 / q}; };
  for (int i = 0; i < 6; ++i) {
    const double q = r.between(.06, .4), x = r.between(-1.1, 1.1);
    tree(b, on_ground(x, q), r.between(.5, 1.7) * b.half_height / q);
  }
  for (int i = 0; i < 4; ++i) {  // bushes that consist of single leaves
    const double q = r.between(.2, .85), x = r.between(-1, 1), size = r.between(.2, .5) * b.half_height / q;
    const Vec3 foot = on_ground(x, q);
    const double dark = r.between(.5, 1.2), light = r.between(.8, 1.8);
    const Texture leaf = make(Pattern::clouds, dark * green, light * green, .2 * size, .1);
    for (int k = 0; k < 60; ++k) {
      const Vec3 at{r.between(-1, 1) * size, r.between(0, 2) * size, r.between(-.5, .5) * size};
      const double length = r.between(.15, .35) * size;
      Texture tinted = leaf;
      const double tint = r.between(.6, 1.5);
      tinted.a = tint * leaf.a, tinted.b = tint * leaf.b;
      b.board(foot + at, direction(r, 1.5, 1.5), length, .45 * length, tinted).cutout = Cutout::leaf;
    }
  }
  for (int i = 0; i < 40; ++i) {
    const double q = r.between(.25, .9), x = r.between(-1, 1);
    grass(b, on_ground(x, q), r.between(.1, .4) * b.half_height / q);
  }
  for (int i = 1 + r.below(2); i > 0; --i) {
    const double from = r.between(.15, .6), to = r.between(.15, .6);
    fence(b, on_ground(-1.2, from), on_ground(1.2, to), r.between(.3, .9) * b.half_height / std::max(from, to));
  }
  const double house_x = r.between(-.8, .8), house_height = r.between(2, 4);
  if (r.one_in(2)) house(b, on_ground(house_x, .12), {4, house_height, 2});
  for (int i = r.below(5); i > 0; --i) {
    const double q = r.between(.15, .8), y = r.between(-.2, .9), drop = r.between(-.3, .3);
    const double nearer = r.between(.6, 1), pixels = r.between(.8, 2.5);
    wire(b, b.in_view(-1.2, y, q), b.in_view(1.2, y + drop, nearer * q), .1 / q, pixels);
  }
  for (int i = r.below(6); i > 0; --i) {
    const double q = r.between(.2, .8), x = r.between(-1, 1);
    const double size = r.between(.15, .6) * b.half_height / q;
    standing_thing(b, on_ground(x, q), size, anything(r, b.pixel(1 / q)));
  }
  nearest_post(b);
}

}  // namespace stereopsis::synth
