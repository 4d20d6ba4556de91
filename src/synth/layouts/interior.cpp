#include "synth/layouts/layouts.hpp"

#include <algorithm>

#include "synth/builder.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {
namespace {

// The corner of a room: a wall in front at `depth`, whose height and width follow from the view.
struct Corner {
  Builder& b;
  double floor, depth, slope, high, wide;

  // Returns a point on the wall, or at a distance in front of it. x and y are −1 to 1 across the view.
  Vec3 on_wall(double x, double y, double before = 0) const {
    return {x * wide, y * high, depth + slope * x * wide - before};
  }
  Vec3 along(double length) const { return {length, 0, slope * length}; }
  double pixel() const { return b.pixel(depth); }
};

// Paint with almost no texture. In a quarter of the cases, only the light changes.
Texture wall_paint(Random& r) {
  const double light = r.between(.55, .95);
  const Colour hue = any_colour(r);
  const double saturation = r.between(0, .3), grain = r.one_in(4) ? 0 : log_between(r, .006, .06);
  const Colour colour = mix(grey_of(light), hue, saturation);
  return make(Pattern::clouds, colour, r.between(.92, 1) * colour, .3, grain);
}

// A screen: a picture of bright windows and text behind glass, or nothing but reflections.
Texture screen_image(Random& r, double cell) {
  Texture t = plain(grey_of(.02));
  if (!r.one_in(3)) {
    const Colour a = any_colour(r), c = any_colour(r);
    t = make(r.one_in(2) ? Pattern::art : Pattern::print, mix(a, white, .5), .3 * a, cell, 0);
    t.c = c;
    t.emission = r.between(.3, 1.2);
  }
  t.mirror = r.between(.2, .8), t.gloss = .3;
  return t;
}

void add_walls(const Corner& c) {
  Random& r = c.b.random;
  const Texture paint = wall_paint(r), side_paint = r.one_in(2) ? paint : wall_paint(r);
  // A doorway at one end of the wall opens to a farther room.
  const double right = r.one_in(2) ? 1 : -1, door = right * r.between(.45, .8), half = .14, head = r.between(.3, .7);
  c.b.panel(c.on_wall(-9, -9), c.along((door - half + 9) * c.wide), {0, 20 * c.high, 0}, paint);
  c.b.panel(c.on_wall(door + half, -9), c.along(9 * c.wide), {0, 20 * c.high, 0}, paint);
  c.b.panel(c.on_wall(door - half, head), c.along(2 * half * c.wide), {0, 20 * c.high, 0}, paint);
  const Texture frame = plain(grey_of(r.between(.6, .95)));
  for (const double x : {door - half, door + half}) {
    const Vec3 foot = c.on_wall(x, 0, .02);
    c.b.box({foot.x, c.floor, foot.z}, 0, {.03 * c.wide, head * c.high - c.floor, .06}, frame);
  }
  c.b.panel({-30, -20, 17}, {60, 0, 0}, {0, 50, 0}, wall_paint(r));
  const double side = -right * r.between(.85, 1.1) * c.wide;
  c.b.panel({side, -20, .9}, {r.between(-.1, .1) * side, 0, c.depth}, {0, 50, 0}, side_paint);
  const Texture skirting = plain(grey_of(r.between(.5, .95)));
  const Vec3 corner = c.on_wall(-9, 0, .01);
  c.b.panel({corner.x, c.floor, corner.z}, c.along((door - half + 9) * c.wide), {0, .05 * c.high, 0}, skirting);
}

void add_window(const Corner& c) {
  Random& r = c.b.random;
  const double x = r.between(-.8, .3), y = r.between(-.2, .1), width = r.between(.3, .5), height = r.between(.4, .7);
  Texture outside = outdoors();
  outside.emission = r.between(.5, 2.5), outside.cell = .3 * c.wide;
  const Vec3 up{0, height * c.high, 0};
  outside.turn = 1e6;  // by 180°, because y of the landscape points down
  c.b.panel(c.on_wall(x, y, .03), c.along(width * c.wide), up, outside);
  Surface& frame = c.b.panel(c.on_wall(x, y, .06), c.along(width * c.wide), up, plain(white));
  frame.cutout = Cutout::square_holes;
  frame.pitch = .5 * std::min(width * c.wide, height * c.high);
  const Texture cloth = wall_paint(r);
  for (int i = 0; i < 5; ++i) {
    const Vec3 foot = c.on_wall(x - .02 * i, y - .1, .12 + .02 * (i % 2));
    c.b.rod(foot, foot + Vec3{0, (height + .2) * c.high, 0}, .014 * c.wide, cloth);
  }
}

void add_radiator(const Corner& c) {
  const double x = c.b.random.between(-.8, .5), height = .3 * c.high;
  const Vec3 at = c.on_wall(x, 0, .1), base{at.x, c.floor + .1 * c.high, at.z};
  const Texture enamel = plain(grey_of(c.b.random.between(.75, .95)));
  for (int i = 0; i < 9; ++i)
    c.b.rod(base + c.along(.035 * i * c.wide), base + c.along(.035 * i * c.wide) + Vec3{0, height, 0}, .014 * c.wide,
            enamel);
}

void add_picture(const Corner& c) {
  Random& r = c.b.random;
  const double x = r.between(-.9, .5), y = r.between(-.1, .5), width = r.between(.15, .35) * c.wide;
  const double height = r.between(.15, .4) * c.high;
  Texture image = anything(r, c.pixel());
  image.mirror = r.between(0, .5), image.gloss = r.between(0, .3);
  c.b.panel(c.on_wall(x, y, .05), c.along(width), {0, height, 0}, plain(mix(brown, black, r.between(0, 1))));
  c.b.panel(c.on_wall(x, y, .06) + c.along(.06 * width) + Vec3{0, .06 * height, 0}, c.along(.88 * width),
            {0, .88 * height, 0}, image);
}

void add_lamp(const Corner& c, const Vec3& base, double height) {
  Random& r = c.b.random;
  const Texture metal = plain(grey_of(r.between(.05, .8)));
  Texture shade = plain(mix(white, yellow, r.between(0, .5)));
  shade.emission = r.between(.6, 2.5), shade.translucency = .8;
  const Vec3 bulb = base + Vec3{0, .85 * height, 0};
  c.b.rod(base, bulb, c.b.at_least(.8, .015 * height, base.z), metal);
  c.b.disc(base + Vec3{0, .01, 0}, {0, 1, 0}, .12 * height, metal);
  if (r.one_in(2)) {
    c.b.rod(bulb - Vec3{0, .1 * height, 0}, bulb + Vec3{0, .15 * height, 0}, .2 * height, .12 * height, shade);
  } else {
    c.b.sphere(bulb, .13 * height, shade);
  }
  c.b.world.lamps.push_back({c.b.frame.point(bulb), r.between(.02, .12) * height * height});
}

void add_screen(const Corner& c, const Vec3& base, double size) {
  Random& r = c.b.random;
  const Frame f = turned(base, r.between(-.25, .25));
  const double height = .6 * size;
  const Vec3 corner = f.point({-.5 * size, .12 * size, 0});
  c.b.panel(corner - .02 * size * f.x - Vec3{0, .02 * size, 0}, 1.04 * size * f.x, {0, 1.04 * height, 0},
            plain(grey_of(.03)));
  c.b.panel(corner - .01 * size * f.z, size * f.x, {0, height, 0}, screen_image(r, .1 * size));
  c.b.rod(base, base + Vec3{0, .15 * size, .02 * size}, .05 * size, plain(grey_of(.1)));
}

// A vase or a bottle of glass: the inside is seen through it, and the surroundings are mirrored by it.
void add_glassware(const Corner& c, const Vec3& base, double height) {
  Random& r = c.b.random;
  const Colour hue = any_colour(r), tint = mix(grey_of(.7), hue, r.between(0, 1));
  Texture glass = make(Pattern::clouds, .9 * tint, .3 * tint, .3 * height, 0);
  glass.behind = .2 * height, glass.mirror = r.between(.3, 1), glass.gloss = .8;
  const double radius = r.between(.15, .25) * height;
  c.b.rod(base, base + Vec3{0, .65 * height, 0}, radius, glass);
  c.b.rod(base + Vec3{0, .65 * height, 0}, base + Vec3{0, height, 0}, radius, .3 * radius, glass);
}

void add_potted_plant(const Corner& c, const Vec3& base, double height) {
  Random& r = c.b.random;
  c.b.rod(base, base + Vec3{0, .25 * height, 0}, .12 * height, .16 * height, painted(r, c.b.pixel(base.z)));
  Texture leaf = make(Pattern::clouds, {.15, .3, .1}, {.3, .45, .15}, .1 * height, .1);
  leaf.translucency = .4;
  for (int i = 0; i < 30; ++i) {
    const Vec3 tip{r.between(-.35, .35), r.between(.35, 1), r.between(-.3, .2)};
    const double size = r.between(.12, .3) * height;
    if (i % 3 == 0)
      c.b.rod(base + Vec3{0, .25 * height, 0}, base + height * tip, c.b.at_least(.5, .008 * height, base.z),
              plain(green));
    c.b.board(base + height * tip, direction(r, 1.2, 1.2), size, .5 * size, leaf).cutout = Cutout::leaf;
  }
}

void add_small_thing(const Corner& c, const Vec3& base, double size) {
  Random& r = c.b.random;
  switch (r.below(6)) {
    case 0: return add_lamp(c, base, 1.6 * size);
    case 1: return add_screen(c, base, 1.6 * size);
    case 2: return add_glassware(c, base, size);
    case 3: return add_potted_plant(c, base, 1.5 * size);
    case 4: return standing_thing(c.b, base, .6 * size, painted(r, c.b.pixel(base.z)));
    default: return standing_thing(c.b, base, .5 * size, anything(r, c.b.pixel(base.z)));
  }
}

void add_table(const Corner& c, const Vec3& base, double height) {
  Random& r = c.b.random;
  Texture top = r.one_in(2) ? bare_wood(r, c.b.pixel(base.z)) : wall_paint(r);
  top.gloss = r.between(0, .5), top.mirror = r.one_in(3) ? r.between(.1, .4) : 0;
  const double wide = r.between(1.2, 2.6) * height, deep = r.between(.6, 1) * height, thick = .05 * height;
  const Frame f = turned(base, r.between(-.3, .3));
  c.b.box(base + Vec3{0, height - thick, 0}, 0, {wide, thick, deep}, top);
  for (const double x : {-.45, .45})
    for (const double z : {-.42, .42}) {
      const Vec3 foot = base + Vec3{x * wide, 0, z * deep};
      c.b.rod(foot, foot + Vec3{0, height, 0}, c.b.at_least(.7, .025 * height, base.z), top);
    }
  for (int i = 0; i < 4; ++i) {
    const double x = (-.36 + .24 * i) * wide, z = r.between(-.25, .25) * deep, size = r.between(.25, .6) * height;
    add_small_thing(c, f.origin + Vec3{x, height, z}, size);
  }
}

void add_cupboard(const Corner& c, const Vec3& base, double size) {
  Random& r = c.b.random;
  Texture front = r.one_in(2) ? bare_wood(r, c.b.pixel(base.z)) : wall_paint(r);
  front.gloss = r.between(0, .4);
  const double height = r.between(.8, 1.8) * size, deep = .5 * size;
  c.b.box(base, 0, {size, height, deep}, front);
  for (const double x : {-.05, .05})
    c.b.rod(base + Vec3{x * size, .5 * height, -.52 * deep}, base + Vec3{x * size, .58 * height, -.52 * deep},
            c.b.at_least(.5, .012 * size, base.z), plain(grey_of(.6)));
  add_small_thing(c, base + Vec3{r.between(-.3, .3) * size, height, 0}, .5 * size);
}

}  // namespace

void interior(Builder& b) {
  Random& r = b.random;
  b.world.light_spacing = light_spacing;
  b.world.sun = b.frame.direction(normalised({r.between(-.9, .9), r.between(.4, 1), r.between(-1, -.2)}));
  b.world.ambient = r.between(.4, .8), b.world.direct = r.between(.2, .7);
  b.world.backdrop = wall_paint(r);
  const double depth = 1 / r.between(.12, .35), high = b.half_height * depth, floor = -high * r.between(.5, .95);
  const Corner corner{b, floor, depth, r.between(-.3, .3), high, b.half_width * depth};
  add_walls(corner);
  Texture boards = r.one_in(2) ? bare_wood(r, b.pixel(2)) : wall_paint(r);
  boards.mirror = r.one_in(3) ? r.between(.05, .2) : 0;
  b.panel({-40, floor, .9}, {80, 0, 0}, {0, 0, 19}, boards);
  if (r.one_in(2)) add_window(corner);
  if (r.one_in(2)) add_radiator(corner);
  for (int i = r.below(4); i > 0; --i) add_picture(corner);
  for (int i = 2 + r.below(3); i > 0; --i) {
    const double z = depth * r.between(.35, .85), x = r.between(-.9, .9) * b.half_width * z;
    const Vec3 base{x, floor, z};
    const double size = r.between(.4, .8) * std::min(-floor, b.half_height * z);
    switch (r.below(4)) {
      case 0: add_cupboard(corner, base, size); break;
      case 1: add_lamp(corner, base, 1.8 * size); break;
      case 2: add_potted_plant(corner, base, 1.5 * size); break;
      default: add_table(corner, base, size);
    }
  }
  nearest_post(b);
}

}  // namespace stereopsis::synth
