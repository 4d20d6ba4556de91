#include "synth/layouts.hpp"

#include <algorithm>
#include <cmath>

#include "synth/builder.hpp"
#include "synth/paint.hpp"
#include "synth/response.hpp"

namespace stereopsis::synth {
namespace {

constexpr double light_spacing = 12;  // coarse, because these scenes are made by the thousand

// Returns a log-uniform random number.
double log_between(Random& random, double low, double high) { return low * power(high / low, random.between(0, 1)); }

Vec3 direction(Random& random, double sideways, double upwards) {
  const double x = random.between(-sideways, sideways), y = random.between(-upwards, upwards);
  return normalised({x, y, -1});
}

Colour grey_of(double light) { return {light, light, light}; }

// Returns the colour of paint, cloth or stone: mostly of low saturation.
Colour any_colour(Random& random) {
  const Colour& hue = palette[random.below(palette_size)];
  const double saturation = random.between(0, 1), light = random.between(.3, 1.25);
  return light * mix(grey_of(.6), hue, saturation * saturation);
}

// Returns a colour that is near to `colour` or far from it, for use next to it in a pattern.
Colour contrasting(Random& random, const Colour& colour) {
  const double share = log_between(random, .08, 1);
  return mix(colour, any_colour(random), share);
}

// Returns a texture of walls, shades and crockery, with almost nothing to match.
Texture painted(Random& random, double pixel) {
  const Colour base = any_colour(random), colour = mix(base, white, random.between(0, .8));
  const double grain = random.one_in(2) ? log_between(random, .004, .03) : 0;
  if (random.one_in(2)) return plain(colour, grain);
  const double fade = random.between(.93, .99), cell = random.between(15, 120) * pixel;
  return make(Pattern::clouds, colour, fade * colour, cell, grain);
}

Texture bare_wood(Random& random, double pixel) {
  const Colour light = mix(pine, brown, random.between(0, 1));
  const double dark = random.between(.7, .95), cell = random.between(8, 50) * pixel;
  const Pattern pattern = random.one_in(3) ? Pattern::planks : Pattern::wood;
  return make(pattern, light, dark * light, cell, random.between(0, .06));
}

Texture greenery(Random& random, double pixel) {
  const Colour dry{.7, .6, .35}, fresh{.45, .68, .25}, dark{.22, .38, .14};
  const Colour a = mix(dark, fresh, random.between(0, .6)), b = mix(fresh, dry, random.between(0, 1));
  const double cell = log_between(random, 3, 14) * pixel;
  return make(Pattern::foliage, a, b, cell, random.between(.1, .3));
}

Texture tarmac(Random& random, double pixel) {
  const Colour tar = grey_of(random.between(.22, .5));
  const double light = random.between(.7, 1.7), cell = random.between(4, 12) * pixel;
  return make(Pattern::asphalt, tar, light * tar, cell, random.between(.03, .2));
}

// Returns any texture. `pixel` is the size of a pixel at the surface.
Texture anything(Random& random, double pixel) {
  constexpr Pattern patterns[] = {Pattern::clouds, Pattern::rough,   Pattern::rough,   Pattern::wood,
                                  Pattern::planks, Pattern::bricks,  Pattern::print,   Pattern::art,
                                  Pattern::art,    Pattern::checker, Pattern::stripes, Pattern::waves,
                                  Pattern::weave,  Pattern::dots,    Pattern::stones,  Pattern::foliage,
                                  Pattern::land,   Pattern::asphalt, Pattern::gingham, Pattern::facade};
  Texture t;
  if (random.one_in(5)) {
    t = painted(random, pixel);
  } else {
    const Pattern pattern = patterns[random.below(20)];
    const Colour a = any_colour(random), b = contrasting(random, a);
    const double cell = log_between(random, 4, 60) * pixel;
    t = make(pattern, a, b, cell, random.one_in(3) ? 0 : log_between(random, .01, .3));
    t.c = contrasting(random, a);
    if (!random.one_in(3)) t.turn = random.between(-1, 1);
  }
  if (random.one_in(6)) t.gloss = random.between(.1, .7);
  return t;
}

// Adds an object about `size` high that stands on a floor.
void standing_thing(Builder& b, const Vec3& base, double size, const Texture& texture) {
  const double tan_half = b.random.between(-.5, .5), slim = b.random.between(.4, 1.3);
  switch (b.random.below(6)) {
    case 0:
    case 1: b.box(base, tan_half, {slim * size, size, slim * size}, texture); break;
    case 2: b.sphere(base + Vec3{0, .5 * size, 0}, .5 * size, texture); break;
    case 3: b.rod(base, base + Vec3{0, size, 0}, .35 * slim * size, b.random.between(0, .35) * size, texture); break;
    case 4: b.ellipsoid(base + Vec3{0, .4 * size, 0}, {.6 * slim * size, .4 * size, .4 * size}, texture); break;
    default: {
      const Frame f = turned(base, tan_half);
      const Vec3 lean{0, size, .2 * size};
      b.panel(base - .5 * slim * size * f.x, slim * size * f.x, lean, texture);
    }
  }
}

// Adds an object in the air, in any orientation.
void floating_thing(Builder& b, const Vec3& centre, double size, const Texture& texture) {
  const Vec3 facing = direction(b.random, 1, .8);
  const double slim = b.random.between(.25, 1);
  switch (b.random.below(7)) {
    case 0: b.sphere(centre, .5 * size, texture); break;
    case 1: b.ellipsoid(centre, {.5 * size, .5 * slim * size, .4 * size}, texture); break;
    case 2: {
      const Vec3 axis = .5 * size * cross(facing, direction(b.random, 3, 3));
      b.rod(centre - axis, centre + axis, .15 * slim * size, texture);
      break;
    }
    case 3: b.disc(centre, facing, .5 * size, texture); break;
    default: {
      Surface& s = b.board(centre, facing, size, slim * size, texture);
      constexpr Cutout cutouts[] = {Cutout::none, Cutout::none, Cutout::blob, Cutout::ring, Cutout::leaf};
      s.cutout = cutouts[b.random.below(5)];
    }
  }
}

// Makes the scene fill its range: something far away stays visible, and one object is as near as possible.
void nearest_thing(Builder& b) {
  const double x = b.random.between(-.85, .85), y = b.random.between(-.85, .85);
  const Vec3 at = b.in_view(x, y, .925);
  b.board(at, {.05, .05, -1}, .22 * b.half_height, .2 * b.half_height, anything(b.random, b.pixel(at.z)));
}
void nearest_post(Builder& b) {
  const double x = b.random.between(-.95, .95), lean = b.random.between(-.05, .05), top = b.random.between(-.7, .1);
  const Vec3 from = b.in_view(x, -1.5, .92), to = b.in_view(x + lean, top, .92);
  const double radius = b.at_least(1.2, b.random.between(.01, .03), from.z);
  b.rod(from, to, radius, b.random.one_in(2) ? bare_wood(b.random, b.pixel(1)) : painted(b.random, b.pixel(1)));
}

void wire(Builder& b, const Vec3& from, const Vec3& to, double sag, double pixels) {
  constexpr int pieces = 5;
  const auto at = [&](int i) {
    const double t = static_cast<double>(i) / pieces;
    return mix(from, to, t) - Vec3{0, 4 * sag * t * (1 - t), 0};
  };
  for (int i = 0; i < pieces; ++i) b.rod(at(i), at(i + 1), b.at_least(.5 * pixels, .004, from.z), plain(black));
}

// Adds a fence from one point of the ground to another.
void fence(Builder& b, const Vec3& from, const Vec3& to, double height) {
  const double depth = .5 * (from.z + to.z), pitch = std::max(b.random.between(.08, .25), 5 * b.pixel(depth));
  const Texture texture = b.random.one_in(2) ? bare_wood(b.random, b.pixel(depth)) : plain(any_colour(b.random), .03);
  switch (b.random.below(3)) {
    case 0: {
      Surface& s = b.panel(from, to - from, {0, height, 0}, texture);
      s.cutout = b.random.one_in(2) ? Cutout::slats : Cutout::mesh;
      s.pitch = pitch;
      break;
    }
    case 1: {  // posts and rails
      const int posts = std::clamp(static_cast<int>(length(to - from) / (3 * pitch)), 2, 40);
      const double radius = b.at_least(.8, .1 * pitch, depth);
      for (int i = 0; i <= posts; ++i) {
        const Vec3 foot = mix(from, to, static_cast<double>(i) / posts);
        b.rod(foot, foot + Vec3{0, height, 0}, radius, texture);
      }
      for (const double share : {.35, .85})
        b.rod(from + Vec3{0, share * height, 0}, to + Vec3{0, share * height, 0}, .7 * radius, texture);
      break;
    }
    default: {
      Surface& s = b.panel(from, to - from, {0, height, 0}, texture);
      s.cutout = Cutout::square_holes;
      s.pitch = pitch;
    }
  }
}

void tree(Builder& b, const Vec3& foot, double height) {
  const Texture bark = make(Pattern::rough, brown, .4 * brown, 5 * b.pixel(foot.z), .2);
  const Texture crown = greenery(b.random, b.pixel(foot.z));
  const double lean = b.random.between(-.08, .08);
  b.rod(foot, foot + Vec3{lean * height, .6 * height, 0}, .045 * height, .025 * height, bark);
  if (b.random.one_in(5)) {  // a bare tree
    for (int i = 0; i < 8; ++i) {
      const double up = b.random.between(.3, .6);
      const Vec3 from = foot + Vec3{lean * up * height, up * height, 0};
      const Vec3 away{b.random.between(-.35, .35), b.random.between(.15, .4), b.random.between(-.2, .2)};
      b.rod(from, from + height * away, b.at_least(.7, .012 * height, foot.z), b.at_least(.4, .003 * height, foot.z),
            bark);
    }
    return;
  }
  for (int i = 0; i < 9; ++i) {
    const Vec3 at{b.random.between(-.25, .25), b.random.between(.45, .95), b.random.between(-.2, .2)};
    const double size = b.random.between(.1, .24), flat = b.random.between(.7, 1);
    b.ellipsoid(foot + height * at, height * Vec3{size, flat * size, size}, crown);
  }
  for (int i = 0; i < 24; ++i) {  // twigs with leaves around the crown
    const Vec3 at{b.random.between(-.42, .42), b.random.between(.4, 1.05), b.random.between(-.3, .05)};
    const double size = height * b.random.between(.04, .12);
    b.board(foot + height * at, direction(b.random, 1, 1), size, .8 * size, crown).cutout = Cutout::blob;
  }
}

void grass(Builder& b, const Vec3& foot, double height) {
  const double wide = b.at_least(1.2, .06 * height, foot.z);
  for (int i = 0; i < 7; ++i) {
    const Vec3 tip{b.random.between(-.5, .5) * height, b.random.between(.6, 1) * height, b.random.between(-.2, .2)};
    const Vec3 root{b.random.between(-.2, .2) * height, 0, b.random.between(-.1, .1) * height};
    const double tint = b.random.between(.6, 1.6);
    b.rod(foot + root, foot + tip, wide, .2 * wide, plain(tint * green, .1));
  }
}

void car(Builder& b, const Vec3& base, double tan_half) {
  const Colour paint = b.random.one_in(2) ? any_colour(b.random) : grey_of(b.random.between(.1, .95));
  Texture body = plain(paint), glass = plain({.1, .12, .15});
  body.gloss = .35, glass.gloss = .8;
  const Frame outer = b.frame;
  b.frame = outer * turned(base, tan_half);
  const double length = b.random.between(1.3, 2), height = b.random.between(.5, .75);
  b.box({0, .1, 0}, 0, {.74, .55 * height - .1, length}, body);
  b.ellipsoid({0, .5 * height, .05 * length}, {.36, .5 * height, .38 * length}, glass);
  b.box({0, .96 * height, .05 * length}, 0, {.5, .03, .4 * length}, body);
  for (const double x : {-.3, .22}) b.panel({x, .3 * height, -.502 * length}, {.1, 0, 0}, {0, .07, 0}, plain(red));
  b.panel({-.13, .2 * height, -.503 * length}, {.26, 0, 0}, {0, .07, 0}, make(Pattern::print, white, black, .05, 0));
  for (const double x : {-.38, .32})
    for (const double z : {-.3, .3}) {
      b.rod({x, .14, z * length}, {x + .06, .14, z * length}, .14, plain(black, .1));
      b.disc({x < 0 ? x : x + .06, .14, z * length}, {x, 0, 0}, .14, plain(grey_of(.35), .1));
    }
  b.frame = outer;
}

void house(Builder& b, const Vec3& base, const Vec3& size) {
  const double pixel = b.pixel(std::max(base.z - .5 * size.z, 1.5));
  const Colour paint = any_colour(b.random), wall = mix(paint, stone, b.random.between(.2, .8));
  const double storey = b.random.between(.5, .9), grain = b.random.between(.01, .15);
  Texture front = make(Pattern::facade, wall, {.16, .2, .26}, storey, grain);
  front.c = b.random.one_in(2) ? white : .6 * wall;
  if (b.random.one_in(3)) front = painted(b.random, pixel);
  if (b.random.one_in(4)) front = make(Pattern::bricks, wall, .6 * wall, b.random.between(.2, .5), .15);
  const Texture roof = make(Pattern::bricks, mix(red, brown, b.random.between(0, 1)), .3 * brown, .2, .2);
  b.box(base, 0, size, front, roof);
  const Vec3 eaves = base + Vec3{-.5 * size.x, size.y, -.5 * size.z};
  if (b.random.one_in(2)) b.panel(eaves - Vec3{0, 0, .1}, {size.x, 0, 0}, {0, .5 * size.x, .5 * size.z}, roof);
}

}  // namespace

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

  // The floor, and a rug.
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

  // Furniture and lamps: large and plain.
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
    const int kind = r.below(4);  // houses, a hedge, a wall, or fields
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
  for (int i = 0; i < 4; ++i) {  // bushes made of single leaves
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

void clutter(Builder& b) {
  Random& r = b.random;
  b.world.light_spacing = light_spacing;
  const bool on_floor = !r.one_in(3);
  const double floor = -b.half_height / r.between(.6, .95), q_wall = r.between(.06, .3);
  b.world.backdrop = anything(r, b.pixel(farthest_depth));
  b.world.sun = normalised({r.between(-.8, .8), r.between(-1, -.2), r.between(-1, -.2)});
  const Vec3 top = b.in_view(0, r.between(.2, .8), q_wall);  // top of a wall; distant things are visible above it
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
    s.cutout = Cutout::square_holes;  // the farthest surface is visible through them
    s.pitch = 2.3;
  }
  // A part of the image stays free, so that distant surfaces are visible there.
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
