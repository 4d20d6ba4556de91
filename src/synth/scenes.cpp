#include "synth/scenes.hpp"

#include <cmath>
#include <set>

#include "synth/builder.hpp"
#include "synth/layouts/layouts.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {
namespace {

// Returns a texture that can be matched everywhere, and differs in each call.
Texture rich(Random& random) {
  constexpr Pattern patterns[] = {Pattern::clouds, Pattern::art,    Pattern::land,
                                  Pattern::bricks, Pattern::planks, Pattern::dots};
  const Pattern pattern = patterns[random.below(6)];
  const int first = random.below(palette_size), step = 1 + random.below(palette_size - 2);
  const double cell = random.between(.25, .6);
  Texture t = make(pattern, palette[first], palette[(first + step) % palette_size], cell, .3);
  t.c = palette[(first + step + 1) % palette_size];
  return t;
}

// Adds adjacent books from `base` to the right.
void row_of_books(Builder& b, const Vec3& base, double length) {
  for (double x = 0; x < length;) {
    const double width = b.random.between(.05, .13), height = b.random.between(.36, .56);
    const int colour = b.random.below(palette_size);
    Texture spine = make(Pattern::stripes, palette[colour], .8 * palette[(colour + 3) % palette_size], .3, .16);
    if (colour % 2 == 0) spine.pattern = Pattern::plain;
    const double tall = b.random.below(4) == 0 ? .8 : 1;
    b.box(base + Vec3{x + .5 * width, 0, 0}, 0, {.94 * width, tall * height, .34}, spine);
    x += width;
    if (b.random.below(9) == 0) x += .12;
  }
}

void book(Builder& b, const Vec3& base, double tan_half, const Vec3& size, const Colour& colour) {
  Texture cover = make(Pattern::art, colour, .75 * colour, .8, .14);
  cover.c = mix(colour, cream, .6);
  // The pages are visible between two covers.
  const double cover_height = .12 * size.y;
  b.box(base, tan_half, {size.x, cover_height, size.z}, plain(.8 * colour, .1), cover);
  b.box(base + Vec3{0, cover_height, 0}, tan_half, {.95 * size.x, size.y - 2 * cover_height, .95 * size.z},
        make(Pattern::stripes, cream, .82 * cream, .9, .22));
  b.box(base + Vec3{0, size.y - cover_height, 0}, tan_half, {size.x, cover_height, size.z}, plain(.8 * colour, .1),
        cover);
}

void plant(Builder& b, const Vec3& base, double depth) {
  const Texture pot = make(Pattern::clouds, {.74, .38, .22}, {.6, .28, .16}, .2, .12);
  b.rod(base, base + Vec3{0, .36, 0}, .17, .25, pot);
  b.rod(base + Vec3{0, .33, 0}, base + Vec3{0, .42, 0}, .27, .27, pot);
  b.disc(base + Vec3{0, .37, 0}, {0, 1, 0}, .26, make(Pattern::clouds, {.2, .13, .08}, {.33, .22, .14}, .06, .3));
  const Vec3 soil = base + Vec3{0, .37, 0};
  for (int i = 0; i < 11; ++i) {
    const Vec3 lean{b.random.between(-.55, .55), b.random.between(.55, 1.05), b.random.between(-.35, .35)};
    const Vec3 tip = soil + lean;
    const double stem = b.at_least(.8, .009, depth);
    b.rod(soil + .12 * Vec3{lean.x, 0, lean.z}, tip, stem, .7 * stem, plain({.25, .4, .15}));
    for (int leaf = 0; leaf < 4; ++leaf) {
      const Vec3 normal{b.random.between(-.7, .7), b.random.between(.2, .9), b.random.between(-1, -.35)};
      const Vec3 away{b.random.between(-.1, .1), b.random.between(-.05, .06), b.random.between(-.08, .02)};
      const Vec3 centre = soil + (1 - .17 * leaf) * lean + away;
      const double tint = b.random.between(.75, 1.35), size = b.random.between(.16, .26);
      Surface& s =
          b.board(centre, normal, size, .5 * size, make(Pattern::clouds, tint * green, 1.35 * tint * green, .1, .2));
      s.cutout = Cutout::corners;
    }
  }
}

void lamp(Builder& b, const Vec3& base, double depth) {
  const Texture brass = plain({.62, .5, .28}, .06);
  b.rod(base, base + Vec3{0, .05, 0}, .23, .21, brass);
  b.disc(base + Vec3{0, .05, 0}, {0, 1, 0}, .21, brass);
  b.rod(base + Vec3{0, .05, 0}, base + Vec3{0, 1, 0}, b.at_least(1, .018, depth), brass);
  b.rod(base + Vec3{0, .78, 0}, base + Vec3{0, 1.15, 0}, .38, .24,
        make(Pattern::plain, {.96, .9, .74}, white, 1, .035));
}

void mug(Builder& b, const Vec3& base) {
  const Texture china = plain(white);
  b.rod(base, base + Vec3{0, .25, 0}, .12, .13, china);
  b.disc(base + Vec3{0, .21, 0}, {0, 1, 0}, .127, plain({.22, .12, .06}));
  b.board(base + Vec3{.16, .13, 0}, {0, 0, -1}, .15, .17, china).cutout = Cutout::ring;
}

void pencils(Builder& b, const Vec3& base, double depth) {
  b.rod(base, base + Vec3{0, .24, 0}, .11, .11, make(Pattern::dots, teal, white, .09, .1));
  for (int i = 0; i < 7; ++i) {
    const Vec3 foot = base + Vec3{b.random.between(-.05, .05), .02, b.random.between(-.05, .05)};
    const Vec3 tip = base + Vec3{b.random.between(-.12, .12), b.random.between(.36, .46), b.random.between(-.1, .1)};
    const Vec3 lead = tip + .09 * (tip - foot);
    const double radius = b.at_least(.9, .013, depth);
    b.rod(foot, tip, radius, plain(palette[i % palette_size]));
    b.rod(tip, lead, radius, .2 * radius, plain(pine));
  }
}

// Adds a cord with lights that hangs between two points.
void festoon(Builder& b, const Vec3& from, const Vec3& to, double sag, int pieces, double depth) {
  const auto at = [&](double t) { return mix(from, to, t) - Vec3{0, 4 * sag * t * (1 - t), 0}; };
  for (int i = 0; i < pieces; ++i) {
    const Vec3 p = at(static_cast<double>(i) / pieces), q = at(static_cast<double>(i + 1) / pieces);
    b.rod(p, q, b.at_least(.6, .006, depth), plain(black));
    if (i > 0) b.sphere(p - Vec3{0, .045, 0}, .045, plain(palette[i % 6]));
  }
}

// A room seen from above a table. The table reaches from the front of the image to the wall, and a window in the wall
// shows distant things.
void table(Builder& b) {
  constexpr double cosine = 12.0 / 13, sine = 5.0 / 13;  // the cameras look down by 22.6°
  // The front edge of the table lies at 93 % of the image height.
  const double height = (cosine * b.half_height + sine) / .93;
  b.frame = {{0, cosine * height, sine * height}, {1, 0, 0}, {0, -cosine, -sine}, {0, -sine, cosine}};
  b.world.up = b.frame.y;
  b.world.sun = b.frame.direction(normalised({-.5, .75, -.42}));
  b.world.backdrop = outdoors();
  b.world.horizon = -farthest_depth * sine / cosine;
  // Returns the point of the table at x (−1 to 1 across the image) whose disparity is the fraction q of the largest
  // disparity.
  const auto on_table = [&](double x, double q) {
    return Vec3{x * b.half_width / q, 0, (1 / q - sine * height) / cosine};
  };

  const double front = on_table(0, 1.1).z, wall = on_table(0, .25).z;
  b.panel({-5, 0, front}, {10, 0, 0}, {0, 0, wall - front},
          make(Pattern::planks, {.66, .45, .27}, {.45, .27, .15}, .3, .16));

  // The wall with its window, as parts around the opening, from left to right.
  const Texture paper = make(Pattern::stripes, {.74, .79, .74}, {.69, .75, .71}, .21, .1);
  constexpr double left = .55, right = 2.75, sill = .8, lintel = 1.95;
  b.panel({-15, -1, wall}, {15 + left, 0, 0}, {0, 11, 0}, paper);
  b.panel({left, -1, wall}, {right - left, 0, 0}, {0, 1 + sill, 0}, paper);
  b.panel({left, lintel, wall}, {right - left, 0, 0}, {0, 10 - lintel, 0}, paper);
  b.panel({right, -1, wall}, {20, 0, 0}, {0, 11, 0}, paper);
  const Texture painted = plain(white, .05);
  const double middle = .5 * (left + right);
  b.box({middle, sill - .06, wall - .04}, 0, {right - left + .3, .07, .24}, painted);
  b.box({middle, lintel, wall}, 0, {right - left + .2, .08, .08}, painted);
  for (const double x : {left, middle, right}) b.box({x, sill, wall}, 0, {.07, lintel - sill, .08}, painted);
  b.box({middle, .5 * (sill + lintel), wall}, 0, {right - left, .035, .04}, painted);
  // A tree outside the window.
  const Vec3 tree{4.1, -1, 10};
  b.rod(tree, tree + Vec3{.2, 3.2, 0}, .26, .16, make(Pattern::clouds, brown, .5 * brown, .3, .3));
  for (int i = 0; i < 9; ++i) {
    const Vec3 at{b.random.between(-1.6, 1.6), b.random.between(2.6, 4.4), b.random.between(-1, 1)};
    b.sphere(tree + at, b.random.between(.5, .9), make(Pattern::clouds, {.2, .36, .12}, {.42, .55, .2}, .25, .4));
  }

  // A shelf and a picture on the wall.
  b.box({-2.35, 1.02, wall - .2}, 0, {2.7, .06, .4}, make(Pattern::wood, {.56, .36, .2}, {.4, .24, .12}, .3, .15));
  row_of_books(b, {-3.6, 1.08, wall - .2}, 2.45);
  Texture poster = make(Pattern::art, blue, orange, .28, .12);
  poster.c = cream;
  b.box({-.3, .62, wall}, 0, {.95, 1.15, .07}, plain(black, .06));
  b.panel({-.72, .67, wall - .04}, {.84, 0, 0}, {0, 1.05, 0}, poster);

  // Objects at the back of the table.
  const Vec3 lamp_at = on_table(.64, .37);
  plant(b, on_table(.2, .34), 3);
  lamp(b, lamp_at, 2.7);
  b.rod(lamp_at + Vec3{.2, .012, .05}, lamp_at + Vec3{.75, .012, .3}, .012, plain(black));
  b.rod(lamp_at + Vec3{.75, .012, .3}, lamp_at + Vec3{.8, .012, wall - lamp_at.z}, .012, plain(black));
  const Vec3 lattice = on_table(-.14, .335);
  Surface& holes = b.panel(lattice + Vec3{-.5, 0, .1}, {.96, 0, -.28}, {0, .832, .047},
                           make(Pattern::wood, pine, .75 * pine, .35, .18));
  holes.cutout = Cutout::round_holes;
  holes.pitch = holes.size.x / 6;
  const Vec3 stack = on_table(-.66, .39);
  book(b, stack, .12, {1.05, .17, .72}, blue);
  book(b, stack + Vec3{.04, .17, 0}, -.07, {.92, .13, .66}, red);
  book(b, stack + Vec3{-.03, .3, .02}, .2, {.78, .15, .56}, .9 * teal);
  Texture earth = make(Pattern::land, {.16, .34, .6}, {.36, .5, .22}, .21, .1);
  earth.c = cream;
  b.sphere(stack + Vec3{0, .45 + .25, .02}, .25, earth);

  // Objects in the middle and at the front of the table.
  const Frame cloth = turned(on_table(-.03, .56), .16);
  b.panel(cloth.point({-.62, .006, -.42}), 1.24 * cloth.x, .84 * cloth.z,
          make(Pattern::gingham, white, .95 * red, .062, .1));
  mug(b, on_table(-.2, .54));
  b.sphere(on_table(.08, .6) + Vec3{0, .13, 0}, .13, make(Pattern::clouds, orange, yellow, .12, .14));
  b.sphere(on_table(.02, .52) + Vec3{0, .12, 0}, .12, make(Pattern::clouds, red, {.75, .45, .16}, .16, .1));
  const Vec3 blocks = on_table(.62, .58);
  Texture letters = make(Pattern::art, yellow, red, .11, .1);
  letters.c = blue;
  b.box(blocks, .15, {.26, .26, .26}, letters);
  b.box(blocks + Vec3{.3, 0, .06}, -.1, {.26, .26, .26}, make(Pattern::checker, pine, brown, .065, .12));
  b.box(blocks + Vec3{.14, .26, .03}, .3, {.24, .24, .24}, make(Pattern::dots, green, cream, .08, .1),
        plain(.9 * green, .1));
  pencils(b, on_table(.4, .7), 1.3);
  b.sphere(on_table(-.72, .66) + Vec3{0, .19, 0}, .19, make(Pattern::stripes, white, blue, .076, .06));
  const Frame page = turned(on_table(.1, .84), -.13);
  b.panel(page.point({-.24, .004, -.17}), .48 * page.x, .34 * page.z, make(Pattern::print, white, .6 * grey, .03, .04));
  b.rod(on_table(-.32, .84) + Vec3{0, .014, 0}, on_table(-.16, .9) + Vec3{0, .014, 0}, .013, plain(orange));

  festoon(b, {-2.2, 2.15, wall - .8}, {3, 2.2, wall - .8}, .3, 22, 3.3);
}

// A scene of slanted planes only, in front of two walls that meet in the distance.
void planes(Builder& b) {
  b.world.backdrop = make(Pattern::clouds, stone, blue, 1.5, .3);
  const Vec3 corner = b.in_view(.3, 0, .06);
  const Vec3 left = b.in_view(-1.2, 0, .3), right = b.in_view(1.3, 0, .22);
  for (const Vec3& side : {left, right}) {
    const Vec3 along = side - corner;
    b.panel(corner - Vec3{0, 14, 0}, 3 * along, {0, 26, 0},
            make(Pattern::bricks, side.x < 0 ? stone : cream, .5 * stone, .9, .3));
  }
  b.board(b.in_view(0, -1.2, .5), {0, 1, -.35}, 30, 3.5, make(Pattern::planks, pine, brown, .3, .25));
  for (int i = 0; i < 8; ++i) {
    const double q = .2 + .09 * i;
    const double x = -.8 + .53 * ((3 * i) % 4) + b.random.between(-.12, .12);
    const double y = b.random.between(-.6, .6);
    const Vec3 normal{b.random.between(-.9, .9), b.random.between(-.7, .7), -1};
    const double size = b.random.between(.28, .5) / q;
    b.board(b.in_view(x, y, q), normal, size, .75 * size, rich(b.random));
  }
  b.board(b.in_view(-.55, -.72, .92), {.08, .1, -1}, .3, .22, rich(b.random));
}

// Spheres, ellipsoids, cylinders and cones in front of a concave wall.
void curved(Builder& b) {
  b.world.backdrop = make(Pattern::clouds, blue, sky, 2, .3);
  const double bend = 6 + 2 * b.half_width;
  const Vec3 axis{0, 0, 8};
  b.rod(axis - Vec3{0, 30, 0}, axis + Vec3{0, .75 * b.half_height * bend, 0}, bend, bend,
        make(Pattern::clouds, 1.3 * cream, stone, 1.1, .3));
  for (int i = 0; i < 9; ++i) {
    const double q = .16 + .085 * i;
    const double size = b.random.between(.12, .24) / q;
    const double x = -.85 + .43 * ((2 * i) % 5) + b.random.between(-.1, .1), y = b.random.between(-.6, .6);
    const Vec3 centre = b.in_view(x, y, q) + Vec3{0, 0, .5 * size};
    const Vec3 lean{b.random.between(-1, 1), b.random.between(.2, 1), b.random.between(-.4, .4)};
    const Texture texture = rich(b.random);
    if (i % 3 == 0) b.sphere(centre, size, texture);
    if (i % 3 == 1) b.ellipsoid(centre, {1.4 * size, .7 * size, size}, texture);
    if (i % 3 == 2)
      b.rod(centre - 1.5 * size * lean, centre + 1.5 * size * lean, .6 * size, i % 2 == 0 ? .6 * size : .2 * size,
            texture);
  }
  b.sphere(b.in_view(.6, -.75, .93) + Vec3{0, 0, .16}, .16, rich(b.random));
}

// Poles, wires, a fence and a lattice in front of a slanted ground and a wall.
void thin(Builder& b) {
  b.world.backdrop = outdoors();
  const double ground = -b.half_height / .9;
  b.panel({-40, ground, .8}, {80, 0, 0}, {0, 0, 20}, make(Pattern::clouds, green, .6 * stone, .6, .35));
  b.board(b.in_view(-.45, .1, .1), {.25, 0, -1}, 9, 9 * b.half_height, make(Pattern::bricks, red, stone, .7, .3));
  const Texture steel = plain(.8 * grey, .1), timber = make(Pattern::wood, pine, brown, .2, .2);
  for (int i = 0; i < 11; ++i) {
    const double q = .12 + .07 * i, x = -.9 + .18 * ((i * 4) % 11) + b.random.between(-.05, .05);
    const Vec3 foot{x * b.half_width / q, ground, 1 / q};
    const double radius = b.at_least(.6 + .25 * (i % 5), .006, 1 / q);
    const Vec3 lean{b.random.between(-.1, .1), 0, b.random.between(-.1, .1)};
    b.rod(foot, foot + Vec3{0, 2 * b.half_height * b.random.between(.6, 1.2) / q, 0} + lean, radius,
          i % 2 ? steel : timber);
  }
  for (int i = 0; i < 7; ++i) {
    const double q = .15 + .1 * i;
    const Vec3 from = b.in_view(-1.3, b.random.between(-.2, 1), q),
               to = b.in_view(1.3, b.random.between(-.2, 1), .7 * q);
    b.rod(from, to, b.at_least(.5 + .15 * i, .002, 1 / q), plain(i % 2 ? black : cream));
  }
  Surface& lattice = b.board(b.in_view(.5, -.25, .42), {-.3, 0, -1}, 1.2, 1.2, timber);
  lattice.cutout = Cutout::square_holes;
  lattice.pitch = 1.2 / 7;
  Surface& holes =
      b.board(b.in_view(-.55, -.3, .55), {.35, .1, -1}, .7, .6, make(Pattern::planks, orange, brown, .15, .2));
  holes.cutout = Cutout::round_holes;
  holes.pitch = .1;
  b.board(b.in_view(-.1, -.5, .93), {0, 0, -1}, .3, .3, steel).cutout = Cutout::ring;
}

// Repeating patterns, without fine texture that distinguishes one period from the next.
void repetitive(Builder& b) {
  b.world.backdrop = make(Pattern::checker, cream, teal, 1.1, 0);
  b.board(b.in_view(-.4, .3, .11), {.2, 0, -1}, 8, 6, make(Pattern::stripes, white, blue, .4, 0));
  b.board(b.in_view(0, -1.1, .45), {0, 1, -.5}, 12, 3, make(Pattern::checker, {.85, .8, .7}, brown, .2, 0));
  b.board(b.in_view(.55, .35, .22), {-.3, .1, -1}, 2.2, 2, make(Pattern::bricks, red, cream, .35, 0));
  b.board(b.in_view(-.5, -.1, .36), {.5, .1, -1}, 1.4, 1, make(Pattern::dots, yellow, black, .11, 0));
  b.board(b.in_view(.15, .1, .5), {0, 0, -1}, .8, .7, make(Pattern::gingham, white, red, .05, 0));
  b.board(b.in_view(.68, -.35, .62), {-.4, -.2, -1}, .6, .5, make(Pattern::checker, white, black, .045, 0));
  b.rod(b.in_view(-.1, -.8, .7), b.in_view(-.15, .2, .7), .09, make(Pattern::checker, orange, white, .06, 0));
  for (int i = 0; i < 12; ++i) {  // a fence of identical posts
    const Vec3 foot = b.in_view(-.95 + .07 * i, -.95, .8);
    b.rod(foot, foot + Vec3{0, .35, 0}, b.at_least(1.5, .01, 1.25), plain(white));
  }
  b.board(b.in_view(.3, -.75, .93), {.1, 0, -1}, .4, .25, make(Pattern::stripes, green, cream, .03, 0));
}

// Plain objects under soft light, of which only the outlines and the shading can be matched.
void textureless(Builder& b) {
  b.world.backdrop = plain({.72, .74, .76});
  b.board(b.in_view(-.5, .2, .1), {.35, 0, -1}, 9, 14, plain({.78, .74, .66}));
  b.panel({-30, -b.half_height / .88, .8}, {60, 0, 0}, {0, 0, 12}, plain({.6, .58, .55}));
  const double floor = -b.half_height / .88;
  for (int i = 0; i < 6; ++i) {
    const double q = .2 + .1 * i, x = -.66 + .44 * ((i * 3) % 4) + b.random.between(-.12, .12);
    const double size = b.random.between(.2, .34) / (q + .3);
    const Vec3 base{x * b.half_width / q, floor, 1 / q};
    const Texture paint = plain(palette[(i * 3 + b.random.below(2)) % palette_size]);
    if (i % 3 == 0) b.box(base, b.random.between(-.3, .3), {size, 1.6 * size, size}, paint);
    if (i % 3 == 1) b.sphere(base + Vec3{0, size, 0}, size, paint);
    if (i % 3 == 2) b.rod(base, base + Vec3{0, 2.2 * size, 0}, .5 * size, .35 * size, paint);
  }
  b.board(b.in_view(.2, .45, .3), {-.2, 0, -1}, .9, .7, make(Pattern::print, white, black, .09, 0));
  b.sphere(b.in_view(-.55, -.7, .93) + Vec3{0, 0, .2}, .2, plain(white));
}

// A road between houses, with pavements, poles, wires, trees and cars.
void street(Builder& b) {
  const double ground = -b.half_height / .93;  // the bottom row of the image shows 93 % of the largest disparity
  const double kerb = .9 + .5 * b.half_width, houses = kerb + 1.3;
  b.world.backdrop = outdoors();
  b.world.horizon = .6;
  b.world.sun = normalised({.2, -.7, -.68});
  b.panel({-60, ground - .04, .9}, {120, 0, 0}, {0, 0, 25}, make(Pattern::clouds, green, .7 * green, .5, .3));
  b.panel({-kerb, ground, .9}, {2 * kerb, 0, 0}, {0, 0, 25},
          make(Pattern::clouds, {.34, .34, .35}, {.42, .41, .4}, .5, .28));
  for (int i = 0; i < 14; ++i)
    b.panel({-.05, ground + .003, 1.1 + 1.5 * i}, {.1, 0, 0}, {0, 0, .75}, plain(white, .12));
  for (const double side : {-1.0, 1.0}) {
    b.panel({side * kerb, ground, .9}, {0, .08, 0}, {0, 0, 25}, plain(stone, .2));
    b.panel({side * kerb, ground + .08, .9}, {side * 1.3, 0, 0}, {0, 0, 25},
            make(Pattern::bricks, stone, .6 * stone, .35, .25));
    double z = side < 0 ? 2.2 : 3.4;
    while (z < 19) {
      const double length = b.random.between(2.2, 3.6), storeys = b.random.between(2, 3.6);
      const int colour = b.random.below(palette_size);
      Texture front = make(Pattern::facade, mix(palette[colour], stone, .55), {.16, .2, .26}, .72, .2);
      front.c = white;
      const double depth = b.random.between(0, .3);
      b.box({side * (houses + depth + 1.5), ground, z + .5 * length}, 0, {3, .72 * storeys + .2, length}, front,
            plain(brown, .25));
      z += length + (b.random.below(3) == 0 ? 1.2 : 0);
    }
    for (int i = 0; i < 6; ++i) {
      const Vec3 foot{side * (kerb + .18), ground, (side < 0 ? 1.75 : 2.4) + 2.9 * i};
      const double height = 2.1 * b.half_height / .75;
      b.rod(foot, foot + Vec3{0, height, 0}, b.at_least(.8, .025, foot.z), plain(.6 * grey, .1));
      b.rod(foot + Vec3{0, height, 0}, foot + Vec3{-side * .5, height + .05, 0}, b.at_least(.6, .015, foot.z),
            plain(.6 * grey));
      if (i < 5)
        b.rod(foot + Vec3{0, height, 0}, foot + Vec3{0, height, 2.9}, b.at_least(.5, .004, foot.z + 1), plain(black));
    }
    for (int i = 0; i < 3; ++i) {
      const Vec3 foot{side * (kerb + .75), ground, (side < 0 ? 4.1 : 5.8) + 4.6 * i};
      b.rod(foot, foot + Vec3{0, .9, 0}, .07, .05, make(Pattern::clouds, brown, .5 * brown, .1, .3));
      for (int leaf = 0; leaf < 5; ++leaf) {
        const Vec3 at{b.random.between(-.3, .3), b.random.between(.9, 1.5), b.random.between(-.3, .3)};
        b.sphere(foot + at, b.random.between(.25, .42),
                 make(Pattern::clouds, {.17, .32, .1}, {.4, .52, .18}, .12, .45));
      }
    }
  }
  const auto car = [&](const Vec3& base, const Colour& paint) {
    const Texture body = plain(paint, .05), glass = plain({.13, .16, .2});
    b.box(base + Vec3{0, .1, 0}, 0, {.72, .24, 1.5}, body);
    b.box(base + Vec3{0, .34, .1}, 0, {.62, .2, .8}, glass, body);
    for (const double x : {-.37, .31})
      for (const double z : {-.45, .45}) {
        b.rod(base + Vec3{x, .13, z}, base + Vec3{x + .06, .13, z}, .13, plain(black, .1));
        b.disc(base + Vec3{x < 0 ? x : x + .06, .13, z}, {x, 0, 0}, .13, plain(grey, .1));
      }
  };
  car({-.62 * kerb, ground, 3.4}, red);
  car({.55 * kerb, ground, 5.2}, .9 * white);
  car({-.5 * kerb, ground, 9}, blue);
}

// A random mixture of the elements of all scenes.
void mix_of_all(Builder& b) {
  b.world.backdrop = rich(b.random);
  const Vec3 facing{b.random.between(-.4, .4), b.random.between(-.2, .2), -1};
  b.board(b.in_view(-.3, 0, .1), facing, 12, 11, rich(b.random));
  b.board(b.in_view(0, -1.1, .45), {0, 1, -.4}, 14, 3.2, rich(b.random));
  const auto place = [&](double q) {
    const double x = b.random.between(-.9, .9), y = b.random.between(-.75, .8);
    return b.in_view(x, y, q);
  };
  for (int i = 0; i < 15; ++i) {
    const double q = .15 + .045 * i, size = b.random.between(.12, .22) / q;
    const Vec3 centre = place(q) + Vec3{0, 0, .4 * size};
    const Vec3 normal{b.random.between(-.8, .8), b.random.between(-.6, .6), -1};
    const double tan_half = b.random.between(-.4, .4);
    Texture texture = rich(b.random);
    if (i % 4 == 3) texture.pattern = Pattern::checker, texture.cell = .2 * size, texture.grain = 0;
    if (i % 5 == 4) texture = plain(texture.a);
    switch (i % 5) {
      case 0: b.board(centre, normal, 2 * size, 1.5 * size, texture); break;
      case 1: b.sphere(centre, .8 * size, texture); break;
      case 2:
        b.rod(centre - 2 * size * Vec3{normal.y, 1, 0}, centre + 2 * size * Vec3{normal.y, 1, 0},
              b.at_least(1, .05 * size, 1 / q), texture);
        break;
      case 3: {
        Surface& s = b.board(centre, normal, 2 * size, 2 * size, texture);
        s.cutout = i % 2 == 0 ? Cutout::round_holes : Cutout::square_holes;
        s.pitch = 2 * size / 5;
        break;
      }
      default: b.box(centre - Vec3{0, .5 * size, 0}, tan_half, {size, size, size}, texture); break;
    }
  }
  for (int i = 0; i < 4; ++i) {
    const double q = b.random.between(.2, .7);
    const Vec3 from = place(q), to = place(.8 * q);
    b.rod(from, to, b.at_least(.6, .004, 1 / q), plain(palette[i]));
  }
  const Vec3 nearest = place(.92);
  b.board(nearest, {.1, .1, -1}, .25, .2, rich(b.random));
}

}  // namespace

const std::vector<NamedScene>& named_scenes() {
  static const std::vector<NamedScene> scenes{{"table", table},
                                              {"street", street},
                                              {"planes", planes},
                                              {"curved", curved},
                                              {"thin", thin},
                                              {"repetitive", repetitive},
                                              {"textureless", textureless},
                                              {"mix", mix_of_all},
                                              {"room", room},
                                              {"road", road},
                                              {"garden", garden},
                                              {"clutter", clutter},
                                              {"leaves", leaves},
                                              {"traffic", traffic, .58},
                                              {"hills", hills, .58},
                                              {"thicket", thicket},
                                              {"interior", interior}};
  return scenes;
}

namespace {

// Returns the surfaces that at least one camera may see in a window, or all surfaces.
Candidates seen_from_both(const World& world, const RigGeometry& rig, const Rect& window) {
  constexpr double tilt = 32;  // number of rows, more than rectification errors can be
  std::set<std::uint16_t> seen;
  for (const double position : {0.0, rig.baseline()}) {
    const View view(world, rig.size, rig.scale, position);
    const bool all = window.width == 0;
    const Candidates found =
        all ? view.candidates(-infinity, -infinity, infinity, infinity)
            : view.candidates(window.x - 1, window.y - tilt, window.x + window.width, window.y + window.height + tilt);
    seen.insert(found.begin(), found.end());
  }
  return {seen.begin(), seen.end()};
}

}  // namespace

Furnish& furnish() {
  static Furnish function;
  return function;
}

World build_world(const NamedScene& scene, const RigGeometry& rig, std::uint64_t seed, const Rect& window) {
  World world;
  Builder builder(world, rig, seed);
  scene.build(builder);
  if (furnish()) furnish()(builder, rig);
  world.backdrop.grain_cell = 2.8 * builder.pixel(farthest_depth);
  world.backdrop.seed = static_cast<std::uint32_t>(builder.random.next());
  if (world.hard_shadows) world.sunlight = Sunlight(world.surfaces, world.sun);
  world.shade_panels(rig.scale, seen_from_both(world, rig, window));
  return world;
}

}  // namespace stereopsis::synth
