#include "stereopsis/synth.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "synth/response.hpp"
#include "synth/rows.hpp"
#include "synth/scenes.hpp"

namespace stereopsis {
namespace {

using namespace synth;

constexpr double agreement = .08;  // of samples, share of full intensity
constexpr int block = 16;          // pixels, side of the blocks that share a list of surfaces
constexpr int disc_radius = 4;     // pixels: Middlebury's windows of 9×9
constexpr double disc_jump = 1;    // pixels of disparity between neighbours

const NamedScene& find_scene(const std::string& name) {
  for (const NamedScene& scene : named_scenes())
    if (scene.name == name) return scene;
  throw Error(ErrorCategory::call,
              text("there is no scene \"", name, "\"; did you mean \"", nearest_name(name, scene_names()),
                   "\"? The scenes are ", join(scene_names(), ", ")));
}

void check(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCategory::call, text("the scene's ", name, " is ", number_text(value), " but must lie from ",
                                        number_text(low), " to ", number_text(high), "; choose a value in that range"));
}

void check(const SceneOptions& o) {
  if (o.size.width < 1 || o.size.height < 1)
    throw Error(ErrorCategory::call, text("a scene can't have the size ", o.size.width, "×", o.size.height,
                                          "; choose a width and a height of at least 1"));
  if (o.disparities < 1)
    throw Error(ErrorCategory::call,
                text("a scene can't have ", o.disparities, " disparities; choose a number of at least 1"));
  check("gain", o.gain, 0, 100);
  check("gamma", o.gamma, .1, 10);
  check("vignetting", o.vignetting, 0, 1);
  check("noise", o.noise, 0, 255);
}

double largest(const Vec3& v) { return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)}); }

// What one camera sees, and whether the other one sees it too.
class Renderer {
 public:
  Renderer(const World& world, const RigGeometry& rig, const View& view, const View& other, int sign)
      : world_(world), rig_(rig), view_(view), other_(other), sign_(sign) {}

  // `shade(x, y, colour)` takes the mean colour of each pixel.
  template <class Shade>
  void render(ImageView<float> disparity, ImageView<std::uint8_t> nonocc, Shade&& shade) const {
    const Size size = rig_.size;
    for_rows(size.height, [&](int first, int last) {
      for (int y = first; y < last; y += block)
        for (int x = 0; x < size.width; x += block)
          render_block(intersect({x, y, block, block}, {0, 0, size.width, last}), disparity, nonocc, shade);
    });
  }

 private:
  template <class Shade>
  void render_block(const Rect& r, ImageView<float> disparity, ImageView<std::uint8_t> nonocc, Shade&& shade) const {
    const int right = r.x + r.width, bottom = r.y + r.height;
    const Candidates candidates = view_.candidates(r.x - .5, r.y - .5, right - .5, bottom - .5);
    Hit hits[block][block];  // at the centres of pixels
    double least = infinity, most = -infinity;
    for (int y = r.y; y < bottom; ++y)
      for (int x = r.x; x < right; ++x) {
        const Hit& hit = hits[y - r.y][x - r.x] = view_.trace(x, y, candidates);
        const double d = rig_.disparity(hit.depth);
        least = std::min(least, sign_ * d), most = std::max(most, sign_ * d);
        disparity(x, y) = static_cast<float>(d);
        shade(x, y, mean_colour(x, y, candidates));
      }
    const Candidates there = other_.candidates(r.x - most, r.y, right - 1 - least, bottom - 1);
    for (int y = r.y; y < bottom; ++y)
      for (int x = r.x; x < right; ++x) nonocc(x, y) = seen_by_other(x, y, hits[y - r.y][x - r.x], there) ? 255 : 128;
  }

  // Of four samples where they agree, else of sixteen: the former are one in each row and column of the latter.
  Colour mean_colour(int x, int y, const Candidates& candidates) const {
    constexpr int column[] = {1, 3, 0, 2};
    const auto sample = [&](int i, int j, const Surface** surface = nullptr) {
      const Hit hit = view_.trace(x + .25 * i - .375, y + .25 * j - .375, candidates);
      if (surface) *surface = hit.surface;
      return colour_of(world_, hit);
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

  // The same point of the same side of the same surface, inside the other picture.
  bool seen_by_other(int x, int y, const Hit& hit, const Candidates& candidates) const {
    const double other_x = x - sign_ * rig_.disparity(hit.depth);
    if (other_x < -.5 || other_x >= rig_.size.width - .5) return false;
    const Hit there = other_.trace(other_x, y, candidates);
    return there.depth >= hit.depth * (1 - 1e-7) && there.back == hit.back;
  }

  const World& world_;
  const RigGeometry& rig_;
  const View& view_;
  const View& other_;
  int sign_;  // x_other = x − sign · disparity
};

// 1 for non-occluded pixels within the radius of a jump, by rows and then by columns.
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
  const World world = build_world(named, rig, options.seed);
  const View left(world, options.size, rig.scale, 0), right(world, options.size, rig.scale, rig.baseline());

  const Size size = options.size;
  Scene scene{Image<std::uint8_t>(size, 3),
              Image<std::uint8_t>(size, 3),
              Image<float>(size),
              Image<float>(size),
              Image<std::uint8_t>(size),
              Image<std::uint8_t>(size),
              {}};
  const Response plain(size, 1, 1, 0, options.noise, mix64(options.seed) + 1);
  const Response changed(size, options.gain, options.gamma, options.vignetting, options.noise, mix64(options.seed) + 2);
  Renderer(world, rig, left, right, 1)
      .render(scene.disparity_left, scene.nonocc_left,
              [&](int x, int y, const Colour& c) { plain.write(c, x, y, &scene.left(x, y)); });
  Renderer(world, rig, right, left, -1)
      .render(scene.disparity_right, scene.nonocc_right,
              [&](int x, int y, const Colour& c) { changed.write(c, x, y, &scene.right(x, y)); });
  scene.disc_left = discontinuities(scene.disparity_left, scene.nonocc_left);
  return scene;
}

}  // namespace stereopsis
