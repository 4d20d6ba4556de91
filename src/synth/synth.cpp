#include "stereopsis/synth.hpp"

#include <algorithm>
#include <cmath>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "synth/camera.hpp"
#include "synth/response.hpp"
#include "synth/rows.hpp"
#include "synth/scenes.hpp"

namespace stereopsis {
namespace {

using namespace synth;

constexpr double agreement = .08;  // largest difference between samples that agree, as a fraction of full intensity
constexpr int block = 16;          // side of the blocks that share a list of surfaces, in pixels
constexpr int disc_radius = 4;     // pixels, for Middlebury's windows of 9×9
constexpr double disc_jump = 1;    // pixels of disparity between neighbours

const NamedScene& find_scene(const std::string& name) {
  for (const NamedScene& scene : named_scenes())
    if (scene.name == name) return scene;
  throw Error(ErrorCategory::call, text("there is no scene '", name, "'", did_you_mean(name, scene_names()),
                                        "; the scenes are ", join(scene_names(), ", ")));
}

void check(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCategory::call, text("the scene's ", name, " is ", number_text(value), "; it must be from ",
                                        number_text(low), " to ", number_text(high)));
}

void check(const SceneOptions& o) {
  if (o.size.width < 1 || o.size.height < 1)
    throw Error(ErrorCategory::call, text("a scene cannot have the size ", o.size.width, "×", o.size.height,
                                          "; choose a width and a height of at least 1"));
  if (o.disparities < 1)
    throw Error(ErrorCategory::call,
                text("a scene cannot have ", o.disparities, " disparities; choose a number of at least 1"));
  check("gain", o.gain, 0, 100);
  check("gamma", o.gamma, .1, 10);
  check("vignetting", o.vignetting, 0, 1);
  check("noise", o.noise, 0, 255);
  check("light", o.light, 0, 1);
  check("shot noise", o.shot_noise, 0, 255);
  check("defocus", o.defocus, 0, 6);
  check("focus", o.focus, 0, 1);
  check("motion", o.motion, 0, 50);
  check("left blur", o.blur_left, 0, 10);
  check("right blur", o.blur_right, 0, 10);
  check("sharpening", o.sharpening, 0, 4);
  check("vertical offset", o.vertical_offset, -20, 20);
  check("vertical slope", o.vertical_slope, -20, 20);
  const Rect& w = o.window;
  if (w.width == 0 && w.height == 0) return;
  if (w.width < 1 || w.height < 1 || intersect(w, {0, 0, o.size.width, o.size.height}) != w)
    throw Error(ErrorCategory::call,
                text("the scene's window of ", w.width, "×", w.height, " at (", w.x, ", ", w.y, ") is not inside the ",
                     o.size.width, "×", o.size.height, " picture; choose a window inside it"));
}

Rect window_of(const SceneOptions& o) {
  return o.window.width > 0 ? o.window : Rect{0, 0, o.size.width, o.size.height};
}

double largest(const Vec3& v) { return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)}); }

// The rows by which a camera is tilted downwards.
struct Tilt {
  double offset = 0, slope = 0;  // per pixel
  double at(double x) const { return offset + slope * x; }
};

// Renders what one camera sees, and determines whether the other camera sees it too.
class Renderer {
 public:
  Renderer(const World& world, const RigGeometry& rig, Size size, const View& view, const View& other, int sign,
           const Tilt& tilt)
      : world_(world), rig_(rig), size_(size), view_(view), other_(other), sign_(sign), tilt_(tilt) {}

  // `picture` receives the mean colour of each pixel, with tilt; the other outputs are those of an ideal camera.
  void render(ImageView<float> disparity, ImageView<std::uint8_t> nonocc, Picture& picture) const {
    for_rows(size_.height, [&](int first, int last) {
      for (int y = first; y < last; y += block)
        for (int x = 0; x < size_.width; x += block)
          render_block(intersect({x, y, block, block}, {0, 0, size_.width, last}), disparity, nonocc, picture);
    });
  }

 private:
  void render_block(const Rect& r, ImageView<float> disparity, ImageView<std::uint8_t> nonocc, Picture& picture) const {
    const int right = r.x + r.width, bottom = r.y + r.height;
    const auto [up, down] = std::minmax({0.0, tilt_.at(r.x), tilt_.at(right)});
    const Candidates candidates = view_.candidates(r.x - .5, r.y - .5 + up, right - .5, bottom - .5 + down);
    Hit hits[block][block];  // at pixel centres
    double least = infinity, most = -infinity;
    for (int y = r.y; y < bottom; ++y)
      for (int x = r.x; x < right; ++x) {
        const Hit& hit = hits[y - r.y][x - r.x] = view_.trace(x, y, candidates);
        const double d = rig_.disparity(hit.depth);
        least = std::min(least, sign_ * d), most = std::max(most, sign_ * d);
        disparity(x, y) = static_cast<float>(d);
        picture(x, y) = mean_colour(x, y + tilt_.at(x), candidates);
      }
    const Candidates there = other_.candidates(r.x - most, r.y, right - 1 - least, bottom - 1);
    for (int y = r.y; y < bottom; ++y)
      for (int x = r.x; x < right; ++x) nonocc(x, y) = seen_by_other(x, y, hits[y - r.y][x - r.x], there) ? 255 : 128;
  }

  // Returns the mean of four samples if they agree, else of sixteen. The four lie in different rows and columns of the
  // sixteen.
  Colour mean_colour(double x, double y, const Candidates& candidates) const {
    constexpr int column[] = {1, 3, 0, 2};
    const auto sample = [&](int i, int j, const Surface** surface = nullptr) {
      const Hit hit = view_.trace(x + .25 * i - .375, y + .25 * j - .375, candidates);
      if (surface) *surface = hit.surface;
      return seen_colour_of(world_, hit, view_.position());
    };
    Colour colours[4], sum;
    const Surface* surfaces[4];
    bool agree = true;
    for (int j = 0; j < 4; ++j) {
      sum += colours[j] = sample(column[j], j, &surfaces[j]);
      agree = agree && surfaces[j] == surfaces[0] && largest(colours[j] - colours[0]) < agreement;
    }
    if (agree) return .25 * sum;
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        if (i != column[j]) sum += sample(i, j);
    return (1.0 / 16) * sum;
  }

  // Returns whether the other camera sees the same point of the same side of the same surface inside its image.
  bool seen_by_other(int x, int y, const Hit& hit, const Candidates& candidates) const {
    const double other_x = x - sign_ * rig_.disparity(hit.depth);
    if (other_x < -.5 || other_x >= size_.width - .5) return false;
    const Hit there = other_.trace(other_x, y, candidates);
    return there.depth >= hit.depth * (1 - 1e-7) && there.back == hit.back;
  }

  const World& world_;
  const RigGeometry& rig_;
  Size size_;  // size of the window
  const View& view_;
  const View& other_;
  int sign_;  // x_other = x − sign · disparity
  Tilt tilt_;
};

// Marks with 1 the non-occluded pixels within the radius of a jump; dilates along rows, then along columns.
Image<std::uint8_t> discontinuities(ImageView<const float> disparity, ImageView<const std::uint8_t> nonocc) {
  const Size size = disparity.size();
  Image<std::uint8_t> jump(size, 1, std::uint8_t{0}), disc(size);
  const auto mark = [&](int x, int y, int x2, int y2) {
    if (std::abs(disparity(x, y) - disparity(x2, y2)) > disc_jump) jump(x, y) = jump(x2, y2) = 1;
  };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      if (x > 0) mark(x, y, x - 1, y);
      if (y > 0) mark(x, y, x, y - 1);
    }
  Image<std::uint8_t> wide(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      std::uint8_t any = 0;
      for (int i = -disc_radius; i <= disc_radius; ++i) any |= jump.view().clamped(x + i, y);
      wide(x, y) = any;
    }
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      std::uint8_t any = 0;
      for (int i = -disc_radius; i <= disc_radius; ++i) any |= wide.view().clamped(x, y + i);
      disc(x, y) = nonocc(x, y) != 255 ? 0 : any ? 255 : 128;
    }
  return disc;
}

Lens lens(const SceneOptions& o, double blur) {
  const double range = std::max(o.disparities - 1, 1);
  return {o.defocus / range, o.focus * range, blur, o.motion, o.sharpening};
}

// Gain, gamma, vignetting and light change the right image only.
Response response(const SceneOptions& o, bool changed) {
  Response r{.size = o.size, .noise = o.noise, .shot_noise = o.shot_noise, .seed = mix64(o.seed) + (changed ? 2 : 1)};
  if (changed) r.gain = o.gain, r.gamma = o.gamma, r.vignetting = o.vignetting, r.light = o.light;
  return r;
}

void expose(const Renderer& renderer, const Lens& lens, const Response& response, const Rect& window,
            ImageView<float> disparity, ImageView<std::uint8_t> nonocc, ImageView<std::uint8_t> image) {
  Picture picture(image.size());
  renderer.render(disparity, nonocc, picture);
  apply(lens, disparity, picture);
  for_rows(image.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < image.width; ++x) response.write(picture(x, y), window.x + x, window.y + y, &image(x, y));
  });
}

}  // namespace

const std::vector<std::string>& scene_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const NamedScene& scene : named_scenes()) list.push_back(scene.name);
    return list;
  }();
  return names;
}

Scene make_scene(const SceneOptions& options) {
  check(options);
  const NamedScene& named = find_scene(options.scene);
  const RigGeometry rig(options.size, options.disparities);
  const World world = build_world(named, rig, options.seed, options.window);
  const Rect window = window_of(options);
  const View left(world, options.size, rig.scale, 0, window.x, window.y),
      right(world, options.size, rig.scale, rig.baseline(), window.x, window.y);

  const Size size = window.size();
  Scene scene{Image<std::uint8_t>(size, 3),
              Image<std::uint8_t>(size, 3),
              Image<float>(size),
              Image<float>(size),
              Image<std::uint8_t>(size),
              Image<std::uint8_t>(size),
              {}};
  const Tilt level,
      tilted{options.vertical_offset + options.vertical_slope * ((window.x + .5) / options.size.width - .5),
             options.vertical_slope / options.size.width};
  const Renderer from_left(world, rig, size, left, right, 1, level),
      from_right(world, rig, size, right, left, -1, tilted);
  expose(from_left, lens(options, options.blur_left), response(options, false), window, scene.disparity_left,
         scene.nonocc_left, scene.left);
  expose(from_right, lens(options, options.blur_right), response(options, true), window, scene.disparity_right,
         scene.nonocc_right, scene.right);
  scene.disc_left = discontinuities(scene.disparity_left, scene.nonocc_left);
  return scene;
}

void make_scenes(const std::vector<SceneOptions>& options, const std::function<void(int, const Scene&)>& take) {
  for_rows(
      static_cast<int>(options.size()),
      [&](int first, int last) {
        for (int i = first; i < last; ++i) take(i, make_scene(options[i]));
      },
      1);
}

SceneOptions random_scene(Size size, Size picture, int disparities, std::uint64_t seed) {
  constexpr const char* scenes[] = {"room",   "room",   "room",    "road",    "road",    "road",       "road",
                                    "garden", "garden", "clutter", "clutter", "clutter", "leaves",     "leaves",
                                    "leaves", "mix",    "planes",  "curved",  "thin",    "textureless"};
  if (picture.width < size.width || picture.height < size.height || size.width < 1 || size.height < 1)
    throw Error(ErrorCategory::call,
                text("a window of ", size.width, "×", size.height, " is larger than the picture of ", picture.width,
                     "×", picture.height, "; choose a larger picture"));
  if (disparities < 1)
    throw Error(ErrorCategory::call,
                text("a scene cannot have ", disparities, " disparities; choose a number of at least 1"));
  Random r(seed);
  SceneOptions o;
  o.scene = scenes[r.below(20)];
  o.seed = r.next() >> 33;  // in the range that the command accepts
  o.size = picture;
  const int slack = picture.height - size.height;  // the top of the image is mostly sky
  o.window = {r.below(picture.width - size.width + 1), 0, size.width, size.height};
  o.window.y = slack - r.below(slack - slack / 4 + 1);
  o.disparities = std::max(1, static_cast<int>(disparities * r.between(.35, 1)));
  if (r.one_in(3)) {  // the cameras or the capture times differ
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
  return o;
}

}  // namespace stereopsis
