#include "synth/layouts/things.hpp"

#include <algorithm>

#include "synth/builder.hpp"
#include "synth/paint.hpp"
#include "synth/response.hpp"

namespace stereopsis::synth {

double log_between(Random& random, double low, double high) { return low * power(high / low, random.between(0, 1)); }

Vec3 direction(Random& random, double sideways, double upwards) {
  const double x = random.between(-sideways, sideways), y = random.between(-upwards, upwards);
  return normalised({x, y, -1});
}

Colour grey_of(double light) { return {light, light, light}; }

Colour any_colour(Random& random) {
  const Colour& hue = palette[random.below(palette_size)];
  const double saturation = random.between(0, 1), light = random.between(.3, 1.25);
  return light * mix(grey_of(.6), hue, saturation * saturation);
}

Colour contrasting(Random& random, const Colour& colour) {
  const double share = log_between(random, .08, 1);
  return mix(colour, any_colour(random), share);
}

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

Vec3 upright(const Vec3& along, double height) {
  return Vec3{0, height, 0} - height * along.y / dot(along, along) * along;
}

void wire(Builder& b, const Vec3& from, const Vec3& to, double sag, double pixels) {
  constexpr int pieces = 5;
  const auto at = [&](int i) {
    const double t = static_cast<double>(i) / pieces;
    return mix(from, to, t) - Vec3{0, 4 * sag * t * (1 - t), 0};
  };
  for (int i = 0; i < pieces; ++i) b.rod(at(i), at(i + 1), b.at_least(.5 * pixels, .004, from.z), plain(black));
}

void fence(Builder& b, const Vec3& from, const Vec3& to, double height) {
  const double depth = .5 * (from.z + to.z), pitch = std::max(b.random.between(.08, .25), 5 * b.pixel(depth));
  const Texture texture = b.random.one_in(2) ? bare_wood(b.random, b.pixel(depth)) : plain(any_colour(b.random), .03);
  switch (b.random.below(3)) {
    case 0: {
      Surface& s = b.panel(from, to - from, upright(to - from, height), texture);
      s.cutout = b.random.one_in(2) ? Cutout::slats : Cutout::mesh;
      s.pitch = pitch;
      break;
    }
    case 1: {  // posts with rails
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
      Surface& s = b.panel(from, to - from, upright(to - from, height), texture);
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
  for (int i = 0; i < 24; ++i) {  // twigs with leaves around the crown of a tree
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

}  // namespace stereopsis::synth
