#include "synth/layouts/outdoors.hpp"

#include <algorithm>

#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {
namespace {

// Returns a pane: what is seen through it, `depth` behind it, and what it mirrors.
Texture pane(Random& random, double depth) {
  const double light = random.between(.02, .14);
  Texture t = make(Pattern::art, grey_of(light), grey_of(.4 * light), 2 * depth, 0);
  t.c = mix(grey_of(2 * light), brown, .3);
  t.behind = depth;
  t.mirror = random.between(.4, 1);
  t.gloss = .15;
  return t;
}

Texture paintwork(Random& random) {
  const Colour paint = random.one_in(3) ? any_colour(random) : grey_of(log_between(random, .04, .95));
  Texture t = plain(paint);
  t.gloss = random.between(.1, .4), t.mirror = random.between(.1, .5);
  return t;
}

Vec3 in_ball(Random& random) {
  Vec3 p{1, 1, 1};
  while (dot(p, p) > 1) p = {random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)};
  return p;
}

// A vehicle in its own coordinates: x to the right, y up, z forwards, in metres.
class Vehicle {
 public:
  Vehicle(Builder& b, const Vec3& base, double tan_half, bool oncoming, double metre)
      : b_(b), outer_(b.frame), metre_(metre), forwards_(oncoming ? -1 : 1) {
    b_.frame = outer_ * turned(base, tan_half);
  }
  ~Vehicle() { b_.frame = outer_; }

  Vec3 at(double x, double y, double z) const { return metre_ * Vec3{x, y, forwards_ * z}; }
  Surface& panel(const Vec3& corner, const Vec3& along, const Vec3& up, const Texture& t) const {
    return b_.panel(at(corner.x, corner.y, corner.z), at(along.x, along.y, along.z), at(up.x, up.y, up.z), t);
  }
  void rod(const Vec3& from, const Vec3& to, double radius, const Texture& t) const {
    b_.rod(at(from.x, from.y, from.z), at(to.x, to.y, to.z), metre_ * radius, t);
  }
  void box(double y, double z, const Vec3& size, const Texture& t) const { b_.box(at(0, y, z), 0, metre_ * size, t); }
  void ellipsoid(double y, double z, const Vec3& half_axes, const Texture& t) const {
    b_.ellipsoid(at(0, y, z), metre_ * half_axes, t);
  }
  void wheels(double half_width, double half_base, double radius) const {
    for (const double side : {-1.0, 1.0})
      for (const double z : {-half_base, half_base}) {
        const double outside = side * (half_width + .01);
        b_.disc(at(outside, 1.05 * radius, z), {side, 0, 0}, 1.2 * metre_ * radius, plain(grey_of(.02)));
        rod({outside - .2 * side, radius, z}, {outside + .01 * side, radius, z}, radius, plain(grey_of(.05), .1));
        b_.disc(at(outside + .015 * side, radius, z), {side, 0, 0}, .65 * metre_ * radius, plain(grey_of(.4), .1));
      }
  }
  // Adds lamps and a number plate to the front and the back.
  void lamps(double half_width, double y, double half_length) const {
    for (const double end : {-1.0, 1.0}) {
      Texture lamp = plain(end < 0 ? Colour{.7, .05, .04} : grey_of(.8));
      lamp.gloss = .5, lamp.emission = b_.random.one_in(3) ? 1.5 : .2;
      const double z = end * (half_length + .01);
      for (const double x : {-half_width, half_width - .3}) panel({x, y, z}, {.3, 0, 0}, {0, .15, 0}, lamp);
      panel({-.26, y - .25, z}, {.52, 0, 0}, {0, .12, 0}, make(Pattern::print, white, black, .12 * metre_, 0));
    }
  }

 private:
  Builder& b_;
  Frame outer_;
  double metre_, forwards_;
};

}  // namespace

Land::Land(Builder& b, double ground, double steepest) : b_(b) {
  heights_.fill(ground);
  for (std::size_t i = 2; i < knots.size(); ++i)
    heights_[i] = heights_[i - 1] + b.random.between(-steepest, steepest) * (knots[i] - knots[i - 1]);
}

double Land::at(double z) const {
  std::size_t i = 1;
  while (i + 1 < knots.size() && z > knots[i]) ++i;
  return heights_[i - 1] + (heights_[i] - heights_[i - 1]) * (z - knots[i - 1]) / (knots[i] - knots[i - 1]);
}

void Land::cover(double x0, double x1, const Texture& texture, double raised, double z0, double z1) const {
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const double from = std::max(z0, knots[i - 1]), to = std::min(z1, knots[i]);
    if (from >= to) continue;
    const Vec3 corner = point(x0, from, raised);
    b_.panel(corner, {x1 - x0, 0, 0}, point(x0, to, raised) - corner, texture);
  }
}

void open_sky(Builder& b, double horizon) {
  Random& r = b.random;
  World& w = b.world;
  w.light_spacing = light_spacing;
  w.hard_shadows = true;
  Vec3 level = in_ball(r);
  level.y = 0;
  const Vec3 sideways = normalised(level + Vec3{1e-3, 0, 0});
  w.sun = normalised({sideways.x, -log_between(r, .15, 1), sideways.z});
  w.ambient = r.between(.35, .7), w.direct = r.between(.9, 1.7);
  const double cloudy = r.between(0, 1), bright = r.between(.9, 1.5);
  w.backdrop = outdoors();
  w.backdrop.a = bright * mix({.35, .55, .85}, grey_of(.9), cloudy);
  w.backdrop.c = bright * mix({.8, .9, 1}, grey_of(1), cloudy);
  w.backdrop.b = r.between(.3, .9) * w.backdrop.b;
  w.backdrop.grain = r.between(0, .03);
  w.horizon = horizon + r.between(0, 1.2);
  w.haze = r.one_in(3) ? 0 : log_between(r, .002, .03);
  w.haze_colour = bright * mix({.75, .83, .92}, grey_of(.88), cloudy);
}

Texture grassy(Random& random, double pixel) {
  const Colour dry{.68, .62, .4}, fresh{.34, .44, .2};
  const double dryness = random.between(0, 1), light = random.between(.7, 1.2), cell = random.between(5, 25) * pixel;
  const Colour a = light * mix(fresh, dry, dryness);
  return make(Pattern::rough, a, .55 * a, cell, random.between(.15, .35));
}

Texture leafy(Random& random, double leaf) {
  const Colour young{.5, .62, .2}, old{.2, .34, .12}, autumn{.6, .38, .13};
  Colour a = mix(old, young, random.between(0, 1));
  if (random.one_in(5)) a = mix(a, autumn, random.between(.3, 1));
  const double shade = random.between(.4, .8), grain = random.between(.05, .25);
  Texture t = make(Pattern::clouds, a, shade * a, .7 * leaf, grain);
  t.translucency = random.between(.2, .7);
  return t;
}

void sprig(Builder& b, const Vec3& centre, double size, double leaf, const Texture& texture) {
  Surface& s = b.board(centre, direction(b.random, 1.2, 1), size, size, texture);
  s.cutout = Cutout::sprig;
  s.pitch = leaf;
}

void leafy_tree(Builder& b, const Vec3& foot, double height) {
  Random& r = b.random;
  const double pixel = b.pixel(foot.z), crown = r.between(.26, .4) * height;
  const double leaf = std::max(height * r.between(.012, .035), 4.5 * pixel);
  const Texture bark = make(Pattern::rough, .6 * brown, .25 * brown, 6 * pixel, .2), leaves = leafy(r, leaf);
  const Vec3 middle = foot + Vec3{r.between(-.05, .05) * height, height - crown, 0};
  b.rod(foot, middle, b.at_least(.7, .035 * height, foot.z), .015 * height, bark);
  for (int i = 0; i < 3; ++i) {
    const Vec3 fork = mix(foot, middle, r.between(.5, .9)), tip = middle + .7 * crown * in_ball(r);
    b.rod(fork, tip, b.at_least(.5, .01 * height, foot.z), .004 * height, bark);
  }
  const Texture dark = make(Pattern::foliage, .7 * leaves.a, .7 * leaves.b, leaf, .2);
  b.ellipsoid(middle, crown * Vec3{.5, .45, .5}, dark);
  const int count = 12 + static_cast<int>(std::min(30.0, 50 * height / foot.z));
  for (int i = 0; i < count; ++i) {
    const Vec3 at = middle + .85 * crown * in_ball(r);
    sprig(b, at, r.between(.35, .85) * crown, leaf, leaves);
  }
}

void hedge(Builder& b, const Vec3& from, const Vec3& to, double height) {
  Random& r = b.random;
  const double depth = std::max(.5 * (from.z + to.z), 1.2), leaf = std::max(.05 * height, 4.5 * b.pixel(depth));
  const Texture leaves = leafy(r, leaf), dark = make(Pattern::foliage, leaves.a, .7 * leaves.b, leaf, .2);
  b.panel(from, to - from, upright(to - from, .6 * height), dark);
  const int count = std::clamp(static_cast<int>(2 * length(to - from) / height), 3, 30);
  for (int i = 0; i < count; ++i) {
    const Vec3 foot = mix(from, to, (i + r.between(0, 1)) / count), aside = .15 * in_ball(r);
    const double up = r.between(.3, .95), size = r.between(.5, .9) * height;
    sprig(b, foot + height * (aside + Vec3{0, up, 0}), size, leaf, leaves);
  }
}

void hill(Builder& b, const Vec3& top, const Vec3& half_axes) {
  b.ellipsoid(top - Vec3{0, half_axes.y, 0}, half_axes, grassy(b.random, b.pixel(top.z)));
}

void saloon(Builder& b, const Vec3& base, double tan_half, bool oncoming, double metre) {
  Random& r = b.random;
  const Texture body = paintwork(r), glass = pane(r, .5 * metre);
  const double half = .5 * r.between(3.7, 4.7), tail = r.one_in(2) ? .15 : .8;  // hatchback or notchback
  const double belt = .92, roof = r.between(1.38, 1.55), wide = .86;
  const Vehicle car(b, base, tan_half, oncoming, metre);
  car.box(.1, 0, {1.5, .3, 2 * half - .6}, plain(grey_of(.03)));
  car.box(.32, 0, {2 * wide, belt - .38, 2 * half - .25}, body);
  for (const double end : {-1.0, 1.0})
    car.rod({-wide, .5, end * (half - .26)}, {wide, .5, end * (half - .26)}, .25, body);
  car.ellipsoid(.78, .62 * half, {.82, .2, .36 * half}, body);
  const double rear = -half + tail, rear_top = rear + .35, front = .45 * half, front_top = front - .75;
  car.ellipsoid(roof - .06, .5 * (rear_top + front_top), {.66, .08, .56 * (front_top - rear_top)}, body);
  car.panel({-.68, belt, rear}, {1.36, 0, 0}, {0, roof - belt - .04, rear_top - rear}, glass);
  car.panel({-.68, belt, front}, {1.36, 0, 0}, {0, roof - belt - .04, front_top - front}, glass);
  car.panel({-.62, roof - .04, rear_top}, {1.24, 0, 0}, {0, 0, front_top - rear_top}, body);
  car.panel({-wide, belt - .06, -half + .13}, {2 * wide, 0, 0}, {0, .06, rear + half - .13}, body);
  for (const double x : {-.7, .7}) {
    Surface& side = car.panel({x, belt - .05, rear}, {0, 0, front - rear}, {0, roof - belt, 0}, glass);
    side.cutout = Cutout::trapezoid;
    side.pitch = .55 * metre;
    car.rod({x, belt, rear}, {x, roof - .05, rear_top}, .05, body);
    car.rod({x, belt, front}, {x, roof - .05, front_top}, .04, body);
    car.rod({x, belt, .5 * (rear + front)}, {x, roof - .05, .5 * (rear + front)}, .04, body);
    car.rod({x, roof - .04, rear_top}, {x, roof - .04, front_top}, .05, body);
  }
  car.wheels(wide, .6 * half, .31);
  car.lamps(.8, .66, half - .02);
}

void van(Builder& b, const Vec3& base, bool oncoming, double metre) {
  Random& r = b.random;
  const Texture body = paintwork(r), glass = pane(r, .6 * metre);
  const bool bus = r.one_in(3);
  const double half = bus ? r.between(4, 6) : r.between(2.2, 2.9), roof = bus ? 2.9 : r.between(1.9, 2.4);
  const double wide = bus ? 1.2 : .95;
  const Vehicle car(b, base, 0, oncoming, metre);
  car.box(.15, 0, {2 * wide - .2, .3, 2 * half - .5}, plain(grey_of(.03)));
  car.box(.35, 0, {2 * wide, roof - .35, 2 * half}, body);
  for (const double x : {-wide, wide}) {
    car.rod({x, roof, -half}, {x, roof, half}, .07, body);
    for (double z = -half + .25; z + .9 < half; z += 1.05)
      if (bus || z > 0 || r.one_in(2)) car.panel({1.005 * x, .55 * roof, z}, {0, 0, .9}, {0, .32 * roof, 0}, glass);
  }
  for (const double end : {-1.0, 1.0})
    car.panel({-.85 * wide, .55 * roof, end * (half + .01)}, {1.7 * wide, 0, 0}, {0, .35 * roof, 0}, glass);
  car.wheels(wide, .62 * half, bus ? .45 : .33);
  car.lamps(.9 * wide, .7, half);
}

void building(Builder& b, const Vec3& base, const Vec3& size, double metre) {
  Random& r = b.random;
  const double pixel = b.pixel(std::max(base.z - .5 * size.z, 1.5));
  Texture wall = painted(r, pixel);
  if (r.one_in(4)) wall = make(Pattern::bricks, wall.a, .8 * wall.a, .5 * metre, .1);
  b.box(base, 0, size, wall, plain(.4 * stone, .1));
  const Texture glass = pane(r, .6 * metre), frame = plain(r.one_in(2) ? white : .4 * brown);
  const double storey = r.between(2.8, 3.6) * metre, bay = r.between(2, 4) * metre, tall = .5 * storey,
               wide = .45 * bay;
  const double side = base.x > 0 ? -1 : 1;
  const auto window = [&](const Vec3& corner, const Vec3& along, const Vec3& out) {
    const Vec3 up{0, tall, 0};
    b.panel(corner + .02 * metre * out, along, up, glass);
    Surface& bars = b.panel(corner + .04 * metre * out, along, up, frame);
    bars.cutout = Cutout::square_holes;
    bars.pitch = .5 * std::min(tall, wide);
  };
  const int storeys = std::min(6, static_cast<int>(size.y / storey)), floors = std::max(1, storeys);
  for (int i = 0; i < floors; ++i) {
    const double y = base.y + (i + .3) * storey;
    for (int k = 0; k < std::min(8, static_cast<int>(size.z / bay)); ++k)
      window({base.x + side * .5 * size.x, y, base.z - .5 * size.z + (k + .25) * bay}, {0, 0, wide}, {side, 0, 0});
    for (int k = 0; k < std::min(6, static_cast<int>(size.x / bay)); ++k)
      window({base.x - .5 * size.x + (k + .25) * bay, y, base.z - .5 * size.z}, {wide, 0, 0}, {0, 0, -1});
  }
}

void lamp_post(Builder& b, const Vec3& foot, double towards_road, double metre) {
  const double height = b.random.between(5, 9) * metre;
  const Texture steel = plain(grey_of(b.random.between(.2, .7)), .05);
  b.rod(foot, foot + Vec3{0, height, 0}, b.at_least(.6, .08 * metre, foot.z), steel);
  b.rod(foot + Vec3{0, height, 0}, foot + Vec3{towards_road * 1.8 * metre, height + .2 * metre, 0},
        b.at_least(.5, .05 * metre, foot.z), steel);
}

void traffic_sign(Builder& b, const Vec3& foot, double metre) {
  const double height = b.random.between(1.6, 2.6) * metre, radius = .32 * metre;
  b.rod(foot, foot + Vec3{0, height, 0}, b.at_least(.5, .04 * metre, foot.z), plain(grey_of(.5), .05));
  Texture face = make(Pattern::art, white, b.random.one_in(2) ? red : blue, .5 * metre, 0);
  face.gloss = .2;
  const Vec3 at = foot + Vec3{0, height, -.06 * metre};
  if (b.random.one_in(3)) {
    b.board(at, {0, 0, -1}, 3 * radius, 2 * radius, face);
  } else {
    b.disc(at, {0, 0, -1}, radius, plain(b.random.one_in(2) ? red : blue));
    b.disc(at - Vec3{0, 0, .01 * metre}, {0, 0, -1}, .75 * radius, face);
  }
}

void traffic_light(Builder& b, const Vec3& foot, double metre) {
  const Vec3 head = foot + Vec3{0, 2.4 * metre, -.15 * metre};
  b.rod(foot, foot + Vec3{0, 3.2 * metre, 0}, b.at_least(.6, .06 * metre, foot.z), plain(grey_of(.3), .05));
  b.box(head, 0, metre * Vec3{.32, .9, .25}, plain(grey_of(.05)));
  constexpr Colour colours[] = {{.2, .9, .5}, {1, .7, .1}, {1, .12, .05}};
  const int lit = b.random.below(3);
  for (int i = 0; i < 3; ++i) {
    Texture lamp = plain((i == lit ? 1 : .1) * colours[i]);
    lamp.emission = i == lit ? 2 : 0;
    b.disc(head + metre * Vec3{0, .17 + .28 * i, -.14}, {0, 0, -1}, .11 * metre, lamp);
  }
}

}  // namespace stereopsis::synth
