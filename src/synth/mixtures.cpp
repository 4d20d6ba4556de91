// Draws random scenes, with the light and the cameras of real pairs.
#include <algorithm>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "stereopsis/synth.hpp"
#include "synth/random.hpp"

namespace stereopsis {
namespace {

using synth::gaussian;
using synth::Random;

// The scenes of a mixture; one of them is drawn. The camera's own effects are drawn by `photograph`, unless it is null.
struct Mixture {
  const char* name;
  std::vector<const char*> scenes;
  void (*photograph)(SceneOptions&, Random&);
};

// Daylight: bright skies saturate, and shadows are dark. The images were rectified.
void photograph_outdoors(SceneOptions& o, Random& r) {
  if (!r.one_in(6)) o.defocus = 0;  // most cameras outdoors focus on everything
  o.exposure = r.between(.8, 1.6);
  o.tone = r.between(1, 1.7);
  if (!r.one_in(4)) o.resampling = r.between(.3, 3);
  if (r.one_in(2)) o.demosaicing = 1;
  if (r.one_in(5)) o.jpeg = r.between(70, 95);
  if (r.one_in(4)) o.flare = r.between(.05, .5);
}

void photograph_indoors(SceneOptions& o, Random& r) {
  o.exposure = r.between(.8, 1.4);
  o.tone = r.between(.9, 1.3);
  if (r.one_in(2)) o.resampling = r.between(.3, 2);
  if (r.one_in(3)) o.demosaicing = 1;
  if (r.one_in(4)) o.jpeg = r.between(75, 95);
  if (r.one_in(8)) o.flare = r.between(.05, .2);
}

const std::vector<Mixture>& mixtures() {
  static const std::vector<Mixture> list{
      {"varied",
       {"room",    "room",    "room",   "road",   "road",   "road", "road",   "garden", "garden", "clutter",
        "clutter", "clutter", "leaves", "leaves", "leaves", "mix",  "planes", "curved", "thin",   "textureless"},
       nullptr},
      {"indoor",
       {"interior", "interior", "interior", "interior", "interior", "room", "room", "clutter"},
       photograph_indoors},
      {"road", {"traffic", "traffic", "traffic", "traffic", "traffic", "hills"}, photograph_outdoors},
      {"plants", {"thicket", "thicket", "thicket", "thicket", "hills", "garden"}, photograph_outdoors},
      {"hard", {"repetitive", "textureless", "interior", "thin"}, photograph_indoors}};
  return list;
}

// Half of the scenes of "mixed" are "varied".
const Mixture& find_mixture(const std::string& name, Random& r) {
  if (name == "mixed") return mixtures()[r.one_in(2) ? 0 : 1 + r.below(3)];
  for (const Mixture& mixture : mixtures())
    if (mixture.name == name) return mixture;
  throw Error(ErrorCategory::call, text("there is no mixture '", name, "'", did_you_mean(name, mixture_names()),
                                        "; the mixtures are ", join(mixture_names(), ", ")));
}

}  // namespace

const std::vector<std::string>& mixture_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Mixture& mixture : mixtures()) list.push_back(mixture.name);
    list.push_back("mixed");
    return list;
  }();
  return names;
}

SceneOptions random_scene(Size size, Size picture, int disparities, std::uint64_t seed, const std::string& like) {
  if (picture.width < size.width || picture.height < size.height || size.width < 1 || size.height < 1)
    throw Error(ErrorCategory::call,
                text("a window of ", size.width, "×", size.height, " is larger than the picture of ", picture.width,
                     "×", picture.height, "; choose a larger picture"));
  if (disparities < 1)
    throw Error(ErrorCategory::call,
                text("a scene cannot have ", disparities, " disparities; choose a number of at least 1"));
  Random r(seed);
  const Mixture& mixture = find_mixture(like, r);
  SceneOptions o;
  o.scene = mixture.scenes[r.below(static_cast<int>(mixture.scenes.size()))];
  o.seed = r.next() >> 33;  // a number in the range that the command accepts
  o.size = picture;
  const int slack = picture.height - size.height;  // the top of the image is mostly sky
  o.window = {r.below(picture.width - size.width + 1), 0, size.width, size.height};
  o.window.y = slack - r.below(slack - slack / 4 + 1);
  const double part = r.between(.4, 1);
  o.disparities = std::max(1, static_cast<int>(disparities * part * part));
  o.focal_length = 1 / r.between(.6, 2.4);  // the baseline, (disparities - 1) / focal length, varies 25-fold
  if (r.one_in(3)) {                        // the cameras or the capture times differ
    o.gain = r.between(.75, 1.25);
    o.gamma = r.between(.85, 1.2);
    o.light = r.between(0, .12);
    o.vignetting = r.between(0, .25);
  }
  o.noise = r.between(.2, 2);
  o.shot_noise = r.one_in(2) ? 0 : r.between(0, 4);
  if (r.one_in(3)) o.defocus = r.between(.5, 3), o.focus = r.between(0, 1);
  if (r.one_in(8)) o.motion = r.between(.5, 4);
  o.blur_left = r.between(.3, .8);
  o.blur_right = std::max(.2, o.blur_left + r.between(-.15, .15));
  if (r.one_in(3)) o.sharpening = r.between(.2, 1.2);
  o.vertical_offset = .22 * gaussian(o.seed, 1);
  o.vertical_slope = .3 * gaussian(o.seed, 2);
  if (mixture.photograph) mixture.photograph(o, r);
  return o;
}

}  // namespace stereopsis
