#include "synth/layouts/layouts.hpp"

#include <algorithm>
#include <cmath>

#include "synth/builder.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {

void room(Builder& b) {
  Random& r = b.random;
  b.world.light_spacing = light_spacing;
  const double floor = -b.half_height / r.between(.45, .95), q_wall = r.between(.075, .3), wall = 1 / q_wall;
  const Vec3 sunwards{r.between(-.8, .8), r.between(.4, 1), r.between(-1, -.3)};
  b.world.sun = b.frame.direction(normalised(sunwards));
  b.world.backdrop = painted(r, b.pixel(farthest_depth));
  const double wall_pixel = b.pixel(wall);
  const Texture paint = painted(r, wall_pixel), side_paint = r.one_in(2) ? paint : painted(r, wall_pixel);

  // The opposite wall, with an opening that shows the far end, and a side wall.
  const double slope = r.between(-.25, .25), left = b.half_width * r.between(-.9, .6) / q_wall, wide = .18 * wall;
  const auto on_wall = [&](double x, double y) { return Vec3{x, y, wall + slope * x}; };
  const double head = b.half_height * wall * r.between(.3, .9);
  b.panel(on_wall(-40, -20), on_wall(left, -20) - on_wall(-40, -20), {0, 50, 0}, paint);
  b.panel(on_wall(left + wide, -20), on_wall(40, -20) - on_wall(left + wide, -20), {0, 50, 0}, paint);
  b.panel(on_wall(left, head), on_wall(left + wide, head) - on_wall(left, head), {0, 40, 0}, paint);
  for (const double x : {left, left + wide})
    b.box(on_wall(x, floor) - Vec3{0, 0, .03}, 0, {.06, head - floor, .1}, painted(r, wall_pixel));
  b.panel({-30, -20, 16.5}, {60, 0, 0}, {0, 50, 0}, painted(r, b.pixel(16.5)));
  const double far_side = r.between(.4, .8) * b.half_width * wall, side = r.one_in(2) ? -far_side : far_side;
  b.panel({side, -20, .9}, {r.between(-.1, .1) * side, 0, wall}, {0, 50, 0}, side_paint);

  // The floor, with a rug.
  b.panel({-40, floor, .9}, {80, 0, 0}, {0, 0, 19},
          r.one_in(2) ? bare_wood(r, b.pixel(2.5)) : painted(r, b.pixel(2.5)));
  const Vec3 rug{r.between(-.4, .4) * b.half_width * wall, floor + .004, .45 * wall};
  const Frame turn = turned(rug, r.between(-.3, .3));
  b.panel(rug - .25 * wall * turn.x - .1 * wall * turn.z, .5 * wall * turn.x, .25 * wall * turn.z,
          anything(r, b.pixel(rug.z)));

  // Pictures and a shelf hang on the wall.
  for (int i = r.below(4); i > 0; --i) {
    const double width = r.between(.08, .2) * wall, height = r.between(.06, .16) * wall;
    const double x = r.between(-.8, .7) * b.half_width * wall, y = r.between(-.1, .6) * b.half_height * wall;
    b.box(on_wall(x + .5 * width, y) - Vec3{0, 0, .04}, 0, {width, height, .06}, bare_wood(r, wall_pixel));
    b.panel(on_wall(x + .1 * width, y + .1 * height) - Vec3{0, 0, .12 + .3 * std::abs(slope) * width},
            {.8 * width, 0, 0}, {0, .8 * height, 0}, anything(r, wall_pixel));
  }
  const double shelf_y = r.between(0, .5) * b.half_height * wall, shelf_x = r.between(-.7, .2) * b.half_width * wall;
  b.box(on_wall(shelf_x + .2 * wall, shelf_y) - Vec3{0, 0, .15}, 0, {.42 * wall, .03, .3}, bare_wood(r, wall_pixel));
  for (int i = 0; i < 6; ++i) {
    const double size = r.between(.03, .09) * wall;
    standing_thing(b, on_wall(shelf_x + .02 * wall + .07 * i * wall, shelf_y + .03) - Vec3{0, 0, .15}, size,
                   painted(r, wall_pixel));
  }

  // Furniture and lamps, which are large and plain.
  for (int i = 0; i < 5; ++i) {
    const double q = q_wall + (.82 - q_wall) * r.between(.1, 1), depth = 1 / q, pixel = b.pixel(depth);
    const Vec3 base{r.between(-.9, .9) * b.half_width * depth, floor, depth};
    const double size = r.between(.25, .6) * std::min(-floor, b.half_height * depth);
    const double tan_half = r.between(-.4, .4);
    Texture t = r.one_in(2) ? painted(r, pixel) : bare_wood(r, pixel);
    if (r.one_in(3)) t.gloss = r.between(.1, .5);
    switch (r.below(5)) {
      case 0: {  // table
        const double long_side = r.between(1, 2.2) * size, deep = .8 * size;
        b.box(base + Vec3{0, size, 0}, tan_half, {long_side, .06 * size, deep}, t);
        const Frame f = turned(base, tan_half);
        for (const double x : {-.46, .46})
          for (const double z : {-.42, .42}) {
            const Vec3 foot = f.point({x * long_side, 0, z * deep});
            b.rod(foot, foot + Vec3{0, size, 0}, .03 * size, t);
          }
        for (int k = 0; k < 3; ++k) {
          const Vec3 at{r.between(-.4, .4) * long_side, 1.06 * size, r.between(-.3, .3) * deep};
          const double height = r.between(.1, .35) * size;
          standing_thing(b, f.point(at), height, r.one_in(2) ? anything(r, pixel) : painted(r, pixel));
        }
        break;
      }
      case 1: {  // lamp
        const double grain = r.one_in(2) ? .01 : 0;
        const Texture shade = plain(mix(white, yellow, r.between(0, .4)), grain);
        b.rod(base, base + Vec3{0, 1.2 * size, 0}, b.at_least(1, .02 * size, depth), t);
        b.rod(base + Vec3{0, 1.1 * size, 0}, base + Vec3{0, 1.6 * size, 0}, .35 * size, .22 * size, shade);
        break;
      }
      case 2: b.box(base, tan_half, {1.2 * size, 1.4 * size, .6 * size}, t); break;
      case 3: {  // armchair
        b.box(base, tan_half, {size, .45 * size, size}, t);
        b.ellipsoid(base + Vec3{0, .5 * size, 0}, {.45 * size, .14 * size, .45 * size}, t);
        b.ellipsoid(base + Vec3{0, .8 * size, .4 * size}, {.5 * size, .5 * size, .15 * size}, t);
        break;
      }
      default: b.sphere(base + Vec3{0, .4 * size, 0}, .4 * size, t);
    }
  }
  // A curtain.
  const double curtain = r.between(-.9, .8) * b.half_width * wall * .9, depth = .9 * wall;
  const Texture cloth = painted(r, b.pixel(depth));
  for (int i = 0; i < 7; ++i) {
    const Vec3 foot{curtain + .05 * i * wall, floor + .05, depth + .02 * (i % 2)};
    b.rod(foot, foot + Vec3{0, 1.9 * b.half_height * wall, 0}, .035 * wall, cloth);
  }
  nearest_post(b);
}

}  // namespace stereopsis::synth
