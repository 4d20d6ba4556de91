#include "synth/layouts/layouts.hpp"

#include <algorithm>

#include "synth/builder.hpp"
#include "synth/layouts/outdoors.hpp"
#include "synth/layouts/things.hpp"
#include "synth/paint.hpp"

namespace stereopsis::synth {
namespace {

// Adds a leaf that bends downwards: three flat pieces, the last of which is pointed.
void bent_leaf(Builder& b, const Vec3& root, const Vec3& outwards, double width, const Texture& texture) {
  Vec3 from = root, step = (1.0 / 3) * outwards;
  const Vec3 across = normalised(cross(outwards, Vec3{0, 1, 0}));
  for (int i = 0; i < 3; ++i) {
    const double wide = (i == 1 ? 1 : .8) * width;
    Surface& piece = b.panel(from - .5 * wide * across, step, wide * across, texture);
    if (i == 2) piece.cutout = Cutout::leaf;
    from = from + step;
    step = step - Vec3{0, .5 * length(step), 0};
  }
}

// Adds a plant whose leaves start at one point, such as a fern, an aloe or a palm.
void rosette(Builder& b, const Vec3& foot, double size, int leaves) {
  Random& r = b.random;
  const double slim = r.between(.08, .3);
  Texture texture = leafy(r, .4 * size);
  for (int i = 0; i < leaves; ++i) {
    const double tint = r.between(.7, 1.3), x = r.between(-1, 1), y = r.between(.3, 1.1), z = r.between(-1, .6);
    Texture tinted = texture;
    tinted.a = tint * texture.a, tinted.b = tint * texture.b;
    bent_leaf(b, foot, size * Vec3{x, y, z}, slim * size, tinted);
  }
}

void leafy_bush(Builder& b, const Vec3& foot, double size) {
  Random& r = b.random;
  const double leaf = std::max(r.between(.09, .25) * size, 9 * b.pixel(foot.z));
  const Texture leaves = leafy(r, leaf), dark = make(Pattern::foliage, .7 * leaves.a, .7 * leaves.b, leaf, .2);
  b.ellipsoid(foot + Vec3{0, .5 * size, .2 * size}, size * Vec3{.45, .5, .3}, dark);
  for (int i = 0; i < 12; ++i) {
    const Vec3 aside{r.between(-.6, .6), r.between(.05, 1.2), r.between(-.5, .2)};
    sprig(b, foot + size * aside, r.between(.4, .7) * size, leaf, leaves);
  }
}

void flower_bunch(Builder& b, const Vec3& foot, double height) {
  Random& r = b.random;
  const Colour& hue = palette[r.below(palette_size)];
  const Colour petal = mix(hue, white, r.between(0, .6));
  for (int i = 0; i < 5; ++i) {
    const Vec3 tip = foot + height * Vec3{r.between(-.4, .4), r.between(.5, 1), r.between(-.2, .2)};
    b.rod(foot, tip, b.at_least(.6, .012 * height, foot.z), plain(.8 * green));
    const Vec3 facing = direction(r, .7, 1);
    Texture petals = make(Pattern::clouds, petal, .8 * petal, .05 * height, .1);
    petals.translucency = .6;
    b.disc(tip, facing, .1 * height, petals);
    b.disc(tip + .01 * height * facing, facing, .035 * height, plain(yellow, .2));
  }
}

}  // namespace

void thicket(Builder& b) {
  Random& r = b.random;
  const double ground = -b.half_height / r.between(.75, .92);
  open_sky(b, -ground);
  b.world.haze = 0;
  const Land land(b, ground, r.between(0, .06));
  const Texture gravel = make(Pattern::stones, stone, .5 * stone, r.between(5, 20) * b.pixel(2), .2);
  land.cover(-40, 40, r.one_in(3) ? gravel : grassy(r, b.pixel(1.5)));
  const auto drawn = [&](double q0, double q1) {
    const double q = r.between(q0, q1), x = r.between(-1.05, 1.05);
    return land.point(x * b.half_width / q, 1 / q);
  };
  for (int i = 1 + r.below(3); i > 0; --i) {
    const Vec3 foot = drawn(.06, .2);
    leafy_tree(b, foot, r.between(.8, 2) * b.half_height * foot.z);
  }
  for (int i = r.below(3); i > 0; --i) {
    const Vec3 from = drawn(.1, .3);
    hedge(b, from - Vec3{.5 * from.z, 0, 0}, from + Vec3{.5 * from.z, 0, 0},
          r.between(.3, .8) * b.half_height * from.z);
  }
  for (int i = 2 + r.below(4); i > 0; --i) {
    const Vec3 foot = drawn(.2, .75);
    leafy_bush(b, foot, r.between(.3, .7) * b.half_height * foot.z);
  }
  for (int i = 2 + r.below(6); i > 0; --i) {
    const Vec3 foot = drawn(.25, .85);
    const double size = r.between(.2, .6) * b.half_height * foot.z;
    rosette(b, foot, size, 8 + r.below(14));
  }
  for (int i = r.below(6); i > 0; --i) {
    const Vec3 foot = drawn(.3, .9);
    flower_bunch(b, foot, r.between(.2, .6) * b.half_height * foot.z);
  }
  for (int i = r.below(20); i > 0; --i) {
    const Vec3 foot = drawn(.3, .9);
    grass(b, foot, r.between(.05, .3) * b.half_height * foot.z);
  }
  const Vec3 from = drawn(.15, .5), to = drawn(.15, .5);
  if (r.one_in(2)) fence(b, from, to, r.between(.3, .7) * b.half_height * std::min(from.z, to.z));
  nearest_post(b);
}

}  // namespace stereopsis::synth
