#include "stereopsis/synth.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "synth/camera.hpp"
#include "synth/response.hpp"
#include "synth/rows.hpp"
#include "synth/scenes.hpp"
#include "synth/sensor.hpp"

namespace stereopsis {
namespace {

using namespace synth;

// Largest difference between samples that count as equal, as a fraction of full intensity.
constexpr double agreement = .08;
constexpr int block = 16;        // side of the blocks that share a list of surfaces, in pixels
constexpr int disc_radius = 4;   // radius in pixels, for Middlebury's windows of 9×9
constexpr double disc_jump = 1;  // difference of disparity between neighbours, in pixels, that is a discontinuity

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
  check("focal length", o.focal_length, 0, 5);
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
  check("exposure", o.exposure, 0, 20);
  check("tone", o.tone, .1, 10);
  check("flare", o.flare, 0, 1);
  check("demosaicing", o.demosaicing, 0, 1);
  check("JPEG quality", o.jpeg, 0, 100);
  check("resampling", o.resampling, 0, 4);
  check("vertical offset", o.vertical_offset, -20, 20);
  check("vertical slope", o.vertical_slope, -20, 20);
  check("vertical wave", o.vertical_wave, -20, 20);
  check("vertical period", o.vertical_period, 10, 1e5);
  if (o.vertical_period_x != 0) check("vertical period along x", o.vertical_period_x, 10, 1e5);
  check("vertical jitter", o.vertical_jitter, 0, 20);
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

// Returns sin(2π · turns), the same on every machine: a polynomial of the turns from the nearest zero.
double sine(double turns) {
  const double whole = std::floor(turns + .5), t = turns - whole;  // −½ to ½
  const double quarter = std::abs(t) > .25 ? std::copysign(.5, t) - t : t, a = 2 * std::numbers::pi * quarter,
               aa = a * a;
  return a * (1 - aa / 6 * (1 - aa / 20 * (1 - aa / 42 * (1 - aa / 72 * (1 - aa / 110)))));
}

// The number of rows by which a camera looks further down than its rows say.
struct Tilt {
  double offset = 0, slope = 0;             // per pixel
  double wave = 0, turns = 0, turns_x = 0;  // per pixel
  double jitter = 0;
  Pixel origin = {};  // first pixel of the window
  std::uint64_t seed = 0;

  double at(double x, double y) const {
    double rows = offset + slope * x;
    if (wave != 0) rows += wave * sine((y + origin.y) * turns) * sine((x + origin.x) * turns_x + .25);
    if (jitter != 0)
      rows += jitter * (2 * Random(mix64(seed) + static_cast<std::uint64_t>(y + origin.y)).between(0, 1) - 1);
    return rows;
  }
  // Returns a limit of what the waves add.
  double most() const { return std::abs(wave) + jitter; }
};

// The direction in which the pixels of a raw image look: that of the rectified pixel to which `rectification` moves
// them, with the tilt that remains.
struct Sight {
  Shift rectification;
  Tilt tilt;

  Point at(double x, double y) const {
    const Point p = rectification.at(x, y);
    return {p.x, p.y + tilt.at(p.x, y)};
  }
};

// Renders the image of one camera, and determines which of its points the other camera also sees.
class Renderer {
 public:
  Renderer(const World& world, const RigGeometry& rig, Size size, const View& view, const View& other, int sign,
           const Sight& sight)
      : world_(world), rig_(rig), size_(size), view_(view), other_(other), sign_(sign), sight_(sight) {}

  // `picture` receives the mean colour of each raw pixel. The other outputs belong to an ideal camera.
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
    const Candidates candidates = candidates_of(r);
    Hit hits[block][block];  // intersections at the centres of pixels
    double least = infinity, most = -infinity;
    for (int y = r.y; y < bottom; ++y)
      for (int x = r.x; x < right; ++x) {
        const Hit& hit = hits[y - r.y][x - r.x] = view_.trace(x, y, candidates);
        const double d = rig_.disparity(hit.depth);
        least = std::min(least, sign_ * d), most = std::max(most, sign_ * d);
        disparity(x, y) = static_cast<float>(d);
        const Point seen = sight_.at(x, y);
        picture(x, y) = mean_colour(seen.x, seen.y, candidates);
      }
    const Candidates there = other_.candidates(r.x - most, r.y, right - 1 - least, bottom - 1);
    for (int y = r.y; y < bottom; ++y)
      for (int x = r.x; x < right; ++x) nonocc(x, y) = seen_by_other(x, y, hits[y - r.y][x - r.x], there) ? 255 : 128;
  }

  // Returns the surfaces that the pixels of a block may see, in the raw image and in that of an ideal camera.
  Candidates candidates_of(const Rect& r) const {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // range of the displacements
    for (const int x : {r.x, r.x + r.width})
      for (const int y : {r.y, r.y + r.height}) {
        const Point p = sight_.at(x, y);
        x0 = std::min(x0, p.x - x), x1 = std::max(x1, p.x - x);
        y0 = std::min(y0, p.y - y), y1 = std::max(y1, p.y - y);
      }
    const double more =
        2 * sight_.tilt.most();  // the corners of the block do not show the largest displacement of a wave
    return view_.candidates(r.x - .5 + x0, r.y - .5 + y0 - more, r.x + r.width - .5 + x1,
                            r.y + r.height - .5 + y1 + more);
  }

  // Returns the mean of four samples if they agree, and otherwise the mean of sixteen samples. The four samples lie in
  // different rows and columns of the sixteen.
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

  // Returns whether the other camera sees the same point, on the same side of the same surface, inside its image.
  bool seen_by_other(int x, int y, const Hit& hit, const Candidates& candidates) const {
    const double other_x = x - sign_ * rig_.disparity(hit.depth);
    if (other_x < -.5 || other_x >= size_.width - .5) return false;
    const Hit there = other_.trace(other_x, y, candidates);
    // A solid may be hit at another of two facets that share an edge, whose depths differ by the rounding of its shape.
    const bool solid = there.surface && there.surface->solid;
    return there.depth >= hit.depth * (1 - (solid ? 1e-5 : 1e-7)) && (solid || there.back == hit.back);
  }

  const World& world_;
  const RigGeometry& rig_;
  Size size_;  // size of the window
  const View& view_;
  const View& other_;
  int sign_;  // sign in x_other = x − sign · disparity
  Sight sight_;
};

// Marks with 1 the non-occluded pixels within the radius of a discontinuity. The marks are dilated along rows, then
// along columns.
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

// Returns the rectification of a camera: a random displacement of at most half a pixel, which grows by
// `resampling` pixels towards the corners of the whole image.
Shift rectification(const SceneOptions& o, const Rect& window, std::uint64_t seed) {
  if (o.resampling == 0) return {};
  Random r(seed);
  const auto component = [&](double& start, double& along_x, double& along_y) {
    start = r.between(-.5, .5);
    along_x = o.resampling * r.between(-1, 1) / o.size.width;
    along_y = o.resampling * r.between(-1, 1) / o.size.height;
    start += along_x * (window.x - .5 * (o.size.width - 1)) + along_y * (window.y - .5 * (o.size.height - 1));
  };
  Shift shift;
  component(shift.x, shift.xx, shift.xy);
  component(shift.y, shift.yx, shift.yy);
  return shift;
}

// The source of the flare is in the upper part of the image, at the same place in both images.
Flare flare(const SceneOptions& o, double share) {
  Random r(mix64(o.seed) + 3);
  const double x = r.between(0, 1) * o.size.width, y = r.between(-.1, .4) * o.size.height;
  return {o.flare * share, x, y, o.size};
}

// Gain, gamma, vignetting and light change only the right image.
Response response(const SceneOptions& o, bool changed) {
  Response r{.size = o.size,
             .exposure = o.exposure,
             .tone = o.tone,
             .noise = o.noise,
             .shot_noise = o.shot_noise,
             .seed = mix64(o.seed) + (changed ? 2 : 1)};
  if (changed) r.gain = o.gain, r.gamma = o.gamma, r.vignetting = o.vignetting, r.light = o.light;
  return r;
}

// One camera: what it sees, and what it makes of it.
struct Camera {
  Renderer renderer;
  Lens lens;
  Flare flare;
  Response response;
  Shift rectification;
};

void expose(const Camera& camera, const SceneOptions& o, const Rect& window, ImageView<float> disparity,
            ImageView<std::uint8_t> nonocc, ImageView<std::uint8_t> image) {
  Picture picture(image.size());
  camera.renderer.render(disparity, nonocc, picture);
  apply(camera.lens, disparity, picture);
  add(camera.flare, window.x, window.y, picture);
  for_rows(image.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < image.width; ++x)
        camera.response.write(picture(x, y), window.x + x, window.y + y, &image(x, y));
  });
  if (o.demosaicing > 0) demosaic(o.demosaicing, window.x, window.y, image);
  if (o.jpeg > 0) compress(static_cast<int>(std::max(1.0, o.jpeg)), image);
  if (!camera.rectification.none()) resample(camera.rectification, image);
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
  const RigGeometry rig(options.size, options.disparities,
                        options.focal_length > 0 ? options.focal_length : named.focal_length);
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
             options.vertical_slope / options.size.width,
             options.vertical_wave,
             1 / options.vertical_period,
             options.vertical_period_x == 0 ? 0 : 1 / options.vertical_period_x,
             options.vertical_jitter,
             {window.x, window.y},
             options.seed + 6};
  const Shift moved_left = rectification(options, window, mix64(options.seed) + 4),
              moved_right = rectification(options, window, mix64(options.seed) + 5);
  const Camera left_camera{Renderer(world, rig, size, left, right, 1, {moved_left, level}),
                           lens(options, options.blur_left), flare(options, 1), response(options, false), moved_left},
      right_camera{Renderer(world, rig, size, right, left, -1, {moved_right, tilted}),
                   lens(options, options.blur_right), flare(options, .85), response(options, true), moved_right};
  expose(left_camera, options, window, scene.disparity_left, scene.nonocc_left, scene.left);
  expose(right_camera, options, window, scene.disparity_right, scene.nonocc_right, scene.right);
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

}  // namespace stereopsis
