#include "stereopsis/obstacles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/refuse.hpp"
#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

constexpr double ground_tolerance = 1;  // largest difference of a pixel on the ground from the plane, in pixels
constexpr double behind = 2;            // least difference of a pixel below the ground
constexpr double least_share = 0.1, sure_share = 0.25, most_below = 0.1;
constexpr double least_cosine = 0.766;  // the cosine of 40°, the largest angle between the normal and the y axis
constexpr std::size_t most_samples = 1 << 13;
constexpr int trials = 1000;

void check(ImageView<const float> depth, const Rig& rig, ImageView<const float> confidence) {
  const auto shown = [](Size size) { return text(size.width, "×", size.height); };
  if (depth.empty()) refuse("the depth map is empty; give one with at least one pixel");
  if (rig.size != Size{} && rig.size != depth.size())
    refuse(text("the depth map is ", shown(depth.size()), ", but the rig is for images of ", shown(rig.size),
                "; give the depth of the rectified left view"));
  if (!confidence.empty() && confidence.size() != depth.size())
    refuse(text("the confidence is ", shown(confidence.size()), ", but the depth map is ", shown(depth.size()),
                "; both must have the same size"));
  if (!(rig.focal > 0) || !(rig.baseline > 0))
    refuse(text("the rig has the focal length ", rig.focal, " and the baseline ", rig.baseline,
                "; obstacles require both to be above 0"));
}

void check(const ObstacleOptions& o) {
  const auto require = [](bool holds, const char* name, double value, const char* allowed) {
    if (!holds) refuse(text(name, " is ", value, "; it must be ", allowed));
  };
  require(o.nearer_than > 0, "nearer_than", o.nearer_than, "a length above 0");
  require(o.lowest >= 0, "lowest", o.lowest, "at least 0");
  require(o.highest > o.lowest, "highest", o.highest, "above lowest");
  require(o.min_confidence >= 0 && o.min_confidence <= 1, "min_confidence", o.min_confidence, "from 0 to 1");
  require(o.min_area >= 0, "min_area", o.min_area, "at least 0");
  require(o.disparity_error >= 0, "disparity_error", o.disparity_error, "at least 0");
  if (!o.ground) return;
  const Vector3& up = o.ground->up;
  require(o.ground->camera_height > 0, "the camera's height above the ground", o.ground->camera_height, "above 0");
  require(std::abs(std::hypot(up[0], up[1], up[2]) - 1) < 1e-3, "the length of the ground's normal",
          std::hypot(up[0], up[1], up[2]), "1");
}

// The plane as focal · baseline / Z = a · u + b · v + c, where u and v are columns and rows from the principal point.
struct Plane {
  double a = 0, b = 0, c = 0;

  double at(double u, double v) const { return a * u + b * v + c; }
};

Plane plane_of(const Ground& ground, const Rig& rig) {
  const double scale = -rig.baseline / ground.camera_height;
  return {scale * ground.up[0], scale * ground.up[1], scale * ground.up[2] * rig.focal};
}

Ground ground_of(const Plane& plane, const Rig& rig) {
  const double length = std::hypot(plane.a, plane.b, plane.c / rig.focal);
  Ground ground;
  ground.up = {-plane.a / length, -plane.b / length, -plane.c / rig.focal / length};
  ground.camera_height = rig.baseline / length;
  return ground;
}

// A pixel, and the disparity of its depth for parallel principal points.
struct Sample {
  double u, v, disparity;
};

// The pixels with a sure depth.
class Pixels {
 public:
  Pixels(ImageView<const float> depth, const Rig& rig, ImageView<const float> confidence, double min_confidence)
      : depth_(depth), confidence_(confidence), least_(static_cast<float>(min_confidence)), rig_(rig) {}

  bool has(int x, int y) const {
    return depth_(x, y) > 0 && std::isfinite(depth_(x, y)) && (confidence_.empty() || confidence_(x, y) >= least_);
  }
  Sample at(int x, int y) const { return {x - rig_.cx_left, y - rig_.cy, rig_.focal * rig_.baseline / depth_(x, y)}; }
  // Returns the pixels of the lower half, or every n-th of them if there are many.
  std::vector<Sample> lower_half() const {
    std::vector<Sample> all;
    for (int y = depth_.height / 2; y < depth_.height; ++y)
      for (int x = 0; x < depth_.width; ++x)
        if (has(x, y)) all.push_back(at(x, y));
    const std::size_t step = all.size() / most_samples + 1;
    for (std::size_t i = 0; i * step < all.size(); ++i) all[i] = all[i * step];
    all.resize((all.size() + step - 1) / step);
    return all;
  }

 private:
  ImageView<const float> depth_, confidence_;
  float least_;
  const Rig& rig_;
};

// Solves the symmetric system m · x = r by Cramer's rule. Returns nothing if the points lie on a line.
std::optional<Plane> solved(const std::array<double, 6>& m, const std::array<double, 3>& r) {
  const auto [uu, uv, u, vv, v, n] = m;
  const double minor_a = vv * n - v * v, minor_b = uv * n - v * u, minor_c = uv * v - vv * u;
  const double determinant = uu * minor_a - uv * minor_b + u * minor_c;
  if (std::abs(determinant) < 1e-9 * uu * vv * n) return {};
  const double a = r[0] * minor_a - uv * (r[1] * n - v * r[2]) + u * (r[1] * v - vv * r[2]);
  const double b = uu * (r[1] * n - v * r[2]) - r[0] * minor_b + u * (uv * r[2] - r[1] * u);
  const double c = uu * (vv * r[2] - r[1] * v) - uv * (uv * r[2] - r[1] * u) + r[0] * minor_c;
  return Plane{a / determinant, b / determinant, c / determinant};
}

template <class Samples>
std::optional<Plane> least_squares(const Samples& samples) {
  std::array<double, 6> m{};
  std::array<double, 3> r{};
  for (const Sample& s : samples) {
    const double terms[] = {s.u * s.u, s.u * s.v, s.u, s.v * s.v, s.v, 1};
    for (std::size_t i = 0; i < 6; ++i) m[i] += terms[i];
    r[0] += s.u * s.disparity;
    r[1] += s.v * s.disparity;
    r[2] += s.disparity;
  }
  return solved(m, r);
}

bool is_level(const Plane& plane, const Rig& rig) { return -ground_of(plane, rig).up[1] >= least_cosine; }

std::vector<Sample> on_plane(const std::vector<Sample>& samples, const Plane& plane) {
  std::vector<Sample> on;
  std::ranges::copy_if(samples, std::back_inserter(on),
                       [&](const Sample& s) { return std::abs(s.disparity - plane.at(s.u, s.v)) <= ground_tolerance; });
  return on;
}

std::optional<Plane> most_common_plane(const std::vector<Sample>& samples, const Rig& rig) {
  std::minstd_rand random(1);  // its numbers are the same everywhere
  const auto any = [&] { return samples[random() % samples.size()]; };
  std::optional<Plane> best;
  std::size_t most = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto plane = least_squares(std::array{any(), any(), any()});
    if (!plane || !is_level(*plane, rig)) continue;
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        samples, [&](const Sample& s) { return std::abs(s.disparity - plane->at(s.u, s.v)) <= ground_tolerance; }));
    if (count > most) {
      most = count;
      best = plane;
    }
  }
  for (int i = 0; best && i < 3; ++i)
    if (const auto better = least_squares(on_plane(samples, *best)); better && is_level(*better, rig)) best = better;
  return best;
}

// One obstacle while its pixels are collected.
struct Region {
  Obstacle obstacle;
  std::vector<std::pair<int, int>> pixels;
};

class Finder {
 public:
  Finder(ImageView<const float> depth, const Rig& rig, const ObstacleOptions& options,
         ImageView<const float> confidence, const Ground& ground)
      : depth_(depth),
        confidence_(confidence),
        rig_(rig),
        options_(options),
        pixels_(depth, rig, confidence, options.min_confidence),
        plane_(plane_of(ground, rig)) {
    result_.ground = ground;
    result_.labels = Image<std::uint16_t>(depth.size());
    result_.height = Image<float>(depth.size());
  }

  Obstacles found() {
    mark_candidates();
    std::vector<Region> regions;
    for (int y = 0; y < depth_.height; ++y)
      for (int x = 0; x < depth_.width; ++x)
        if (result_.labels(x, y) == candidate) regions.push_back(region_at(x, y));
    std::erase_if(regions, [&](const Region& r) { return r.pixels.empty() || r.obstacle.area < options_.min_area; });
    std::ranges::stable_sort(regions, {}, [](const Region& r) { return r.obstacle.distance; });
    if (regions.size() >= candidate) regions.resize(candidate - 1);
    for (const Region& region : regions) {
      result_.list.push_back(region.obstacle);
      for (const auto& [x, y] : region.pixels) result_.labels(x, y) = static_cast<std::uint16_t>(result_.list.size());
    }
    return std::move(result_);
  }

 private:
  static constexpr std::uint16_t candidate = 65535;

  void mark_candidates() {
    for (int y = 0; y < depth_.height; ++y)
      for (int x = 0; x < depth_.width; ++x) {
        const float z = depth_(x, y);
        result_.labels(x, y) = 0;
        result_.height(x, y) = std::numeric_limits<float>::quiet_NaN();
        if (!(z > 0) || !std::isfinite(z)) continue;
        const Sample s = pixels_.at(x, y);
        const double above = s.disparity - plane_.at(s.u, s.v);
        const double height = result_.ground.camera_height * above / s.disparity;
        result_.height(x, y) = static_cast<float>(height);
        if (z <= options_.nearer_than && above >= options_.disparity_error && height >= options_.lowest &&
            height <= options_.highest)
          result_.labels(x, y) = candidate;
      }
  }

  // Returns the sure pixels of the region of candidates that contains (x, y), and clears the labels of the region. Unsure
  // pixels connect sure ones.
  Region region_at(int x, int y) {
    Region region;
    region.pixels.push_back({x, y});
    result_.labels(x, y) = 0;
    for (std::size_t i = 0; i < region.pixels.size(); ++i) add_neighbours(region.pixels, region.pixels[i]);
    std::erase_if(region.pixels, [this](const auto& pixel) { return !pixels_.has(pixel.first, pixel.second); });
    if (!region.pixels.empty()) measure(region);
    return region;
  }

  // A gap of one pixel does not separate the pixels of an obstacle.
  void add_neighbours(std::vector<std::pair<int, int>>& pixels, std::pair<int, int> at) {
    constexpr int reach = 2;
    const double here = pixels_.at(at.first, at.second).disparity;
    for (int y = std::max(0, at.second - reach); y <= std::min(depth_.height - 1, at.second + reach); ++y)
      for (int x = std::max(0, at.first - reach); x <= std::min(depth_.width - 1, at.first + reach); ++x)
        if (result_.labels(x, y) == candidate && std::abs(pixels_.at(x, y).disparity - here) <= ground_tolerance) {
          result_.labels(x, y) = 0;
          pixels.push_back({x, y});
        }
  }

  void measure(Region& region) const {
    Obstacle& o = region.obstacle;
    double confidence = 0;
    int left = depth_.width, top = depth_.height, right = 0, bottom = 0;
    for (const auto& [x, y] : region.pixels) {
      left = std::min(left, x), right = std::max(right, x + 1), top = std::min(top, y),
      bottom = std::max(bottom, y + 1);
      const double side = depth_(x, y) / rig_.focal;
      o.area += side * side;
      o.height = std::max(o.height, static_cast<double>(result_.height(x, y)));
      confidence += confidence_.empty() ? 1 : confidence_(x, y);
    }
    o.box = {left, top, right - left, bottom - top};
    o.pixels = static_cast<long long>(region.pixels.size());
    o.confidence = confidence / static_cast<double>(o.pixels);
    std::vector<std::pair<int, int>> by_depth = region.pixels;
    const auto twentieth = by_depth.begin() + static_cast<std::ptrdiff_t>(by_depth.size() / 20);
    std::ranges::nth_element(by_depth, twentieth, {}, [&](const auto& p) { return depth_(p.first, p.second); });
    const auto [x, y] = *twentieth;
    o.distance = depth_(x, y);
    o.point = {(x - rig_.cx_left) * o.distance / rig_.focal, (y - rig_.cy) * o.distance / rig_.focal, o.distance};
  }

  ImageView<const float> depth_, confidence_;
  const Rig& rig_;
  const ObstacleOptions& options_;
  Pixels pixels_;
  Plane plane_;
  Obstacles result_;
};

}  // namespace

ObstacleOptions obstacle_options(const Rig& rig) {
  ObstacleOptions options;
  if (rig.unit == no_scale)
    throw Error(ErrorCategory::call,
                "obstacles have sizes in metres, and the calibration has no scale; estimate it with the length of the "
                "baseline");
  if (rig.unit != "mm") return options;
  for (double* const length : {&options.nearer_than, &options.lowest, &options.highest}) *length *= 1000;
  options.min_area *= 1e6;
  return options;
}

std::optional<Ground> fit_ground(ImageView<const float> depth, const Rig& rig, ImageView<const float> confidence,
                                 double min_confidence) {
  check(depth, rig, confidence);
  const std::vector<Sample> samples = Pixels(depth, rig, confidence, min_confidence).lower_half();
  const auto plane = samples.empty() ? std::nullopt : most_common_plane(samples, rig);
  if (!plane) return {};
  const auto share = [&](std::ptrdiff_t count) {
    return static_cast<double>(count) / static_cast<double>(samples.size());
  };
  Ground ground = ground_of(*plane, rig);
  ground.share = share(std::ssize(on_plane(samples, *plane)));
  ground.below = share(
      std::ranges::count_if(samples, [&](const Sample& s) { return s.disparity < plane->at(s.u, s.v) - behind; }));
  if (ground.share < least_share) return {};
  const auto percent = [](double part) {
    return text(std::lround(100 * part), " % of the measured pixels in the lower half ");
  };
  if (ground.below > most_below)
    ground.doubt =
        percent(ground.below) + "are below the plane, so that it may be a table, a roof or the upper of two levels";
  else if (ground.share < sure_share)
    ground.doubt = "only " + percent(ground.share) + "are on the plane";
  return ground;
}

Obstacles find_obstacles(ImageView<const float> depth, const Rig& rig, const ObstacleOptions& options,
                         ImageView<const float> confidence) {
  check(depth, rig, confidence);
  check(options);
  const std::optional<Ground> ground =
      options.ground ? options.ground : fit_ground(depth, rig, confidence, options.min_confidence);
  if (!ground)
    refuse(
        "no ground was found in the depth map: no plane below the camera has a tenth of the measured pixels in the "
        "lower half; give the ground");
  return Finder(depth, rig, options, confidence, *ground).found();
}

}  // namespace stereopsis
