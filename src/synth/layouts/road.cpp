#include "synth/layouts/layouts.hpp"

#include "synth/builder.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {

void road(Builder& b) {
  Random& r = b.random;
  b.world.light_spacing = light_spacing;
  const double ground = -b.half_height / r.between(.8, .95);
  const double kerb = r.between(.8, 1.4) + .5 * b.half_width, pavement = r.between(.4, 1.6), houses = kerb + pavement;
  const double shift = r.between(-.4, .4) * kerb;  // shift of the cameras
  b.world.backdrop = outdoors();
  const double cloudy = r.between(0, 1);
  b.world.backdrop.a = mix(sky, grey_of(.8), cloudy), b.world.backdrop.c = mix({.9, .94, .97}, grey_of(.85), cloudy);
  b.world.backdrop.grain = r.between(0, .05);
  b.world.horizon = r.between(0, .7);
  b.world.haze = r.one_in(3) ? 0 : log_between(r, .004, .06);
  b.world.haze_colour = mix(Colour{.8, .86, .93}, grey_of(.88), cloudy);
  b.world.sun = normalised({r.between(-.8, .8), r.between(-1, -.3), r.between(-1, .3)});

  const double near_pixel = b.pixel(2.2);
  b.panel({-60, ground - .05, .9}, {120, 0, 0}, {0, 0, 25}, greenery(r, near_pixel));
  b.panel({shift - kerb, ground, .9}, {2 * kerb, 0, 0}, {0, 0, 25}, tarmac(r, near_pixel));
  const double dash = r.between(.4, 1.2), gap = dash * r.between(.6, 1.5), paint = r.between(.05, .1);
  const Texture marking = plain(grey_of(r.between(.75, .95)), .08);
  for (double z = 1.05; z < 19; z += dash + gap)
    b.panel({shift - .5 * paint, ground + .003, z}, {paint, 0, 0}, {0, 0, dash}, marking);
  for (const double side : {-1.0, 1.0})
    if (!r.one_in(3)) b.panel({shift + side * (kerb - .2), ground + .003, .9}, {paint, 0, 0}, {0, 0, 22}, marking);

  for (const double side : {-1.0, 1.0}) {
    const auto beside = [&](double x, double y, double z) { return Vec3{shift + side * x, ground + y, z}; };
    const bool paved = !r.one_in(4);
    if (paved) {
      b.panel(beside(kerb, 0, .9), {0, .08, 0}, {0, 0, 25}, plain(stone, .1));
      b.panel(beside(kerb, .08, .9), {side * pavement, 0, 0}, {0, 0, 25},
              r.one_in(2) ? tarmac(r, near_pixel) : make(Pattern::bricks, stone, .7 * stone, .35, .12));
    }
    const int kind = r.below(4);  // a row of houses, a hedge, a wall, or fields
    for (double z = r.between(1.8, 3.5); z < 19;) {
      const double length = r.between(1.5, 4), height = r.between(1.2, 3.2), back = r.between(0, .6);
      if (kind == 0 || r.one_in(3)) house(b, beside(houses + back + 1.5, 0, z + .5 * length), {3, height, length});
      z += length + (r.one_in(2) ? r.between(.5, 3) : 0);
    }
    if (kind == 1) {
      const Texture hedge = greenery(r, b.pixel(4));
      for (int i = 0; i < 14; ++i) {
        const double high = r.between(.35, .7);
        b.ellipsoid(beside(houses, .4 * high, 2 + 1.1 * i), {.35, high, .8}, hedge);
      }
    }
    if (kind == 2) {
      const Texture wall = r.one_in(2) ? painted(r, b.pixel(4)) : anything(r, b.pixel(4));
      b.panel(beside(houses, 0, 1.2), {0, 0, 17}, {0, r.between(.3, 1.2), 0}, wall);
    }
    if (kind == 3) fence(b, beside(houses, 0, 1.3), beside(houses + .3, 0, 13), r.between(.3, .6));
    const double spacing = r.between(2, 5), start = r.between(1.7, 3), height = r.between(1.6, 2.8);
    for (double z = start; z < 18; z += spacing) {
      if (r.one_in(3)) {
        const Vec3 foot = beside(kerb + r.between(.3, 1.5), 0, z);
        tree(b, foot, r.between(.9, 2.4));
        continue;
      }
      const Vec3 foot = beside(kerb + .18, 0, z);
      const Texture steel = plain(grey_of(r.between(.25, .7)), .05);
      b.rod(foot, foot + Vec3{0, height, 0}, b.at_least(.7, .022, z), steel);
      if (r.one_in(2))
        b.rod(foot + Vec3{0, height, 0}, foot + Vec3{-side * .5, height + .05, 0}, b.at_least(.5, .014, z), steel);
      if (r.one_in(2)) wire(b, foot + Vec3{0, height, 0}, foot + Vec3{0, height, spacing}, .08, 1);
      if (r.one_in(4))
        b.disc(foot + Vec3{0, .6 * height, -.03}, {0, 0, -1}, .16,
               make(Pattern::art, white, r.one_in(2) ? red : blue, .2, 0));
    }
  }
  for (int i = 2 + r.below(5); i > 0; --i) {
    const double z = r.between(1.9, 11), lane = r.between(.4, .75) * kerb;
    const double x = shift + (r.one_in(2) ? -lane : lane);
    car(b, {x, ground, z}, r.one_in(4) ? r.between(-1, 1) : 0);
  }
  nearest_post(b);
}

}  // namespace stereopsis::synth
