// Projects points and the map of the frame before into the rectified left image: stereopsis/seeds.hpp.
#include "stereopsis/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/refuse.hpp"
#include "core/text.hpp"
#include "geometry/rotations.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
constexpr int most_distance = 24;  // in pixels, of a point that hides another one

void check(const Rig& rig, const Pose& pose) {
  if (!(rig.focal > 0 && rig.baseline > 0))
    refuse(text("a rig with focal length ", rig.focal, " and baseline ", rig.baseline,
                " gives points no disparity; both must be above 0"));
  if (!is_rotation(pose.rotation, rotation_tolerance))
    refuse("the 3×3 part of the pose is no rotation; its rows must be orthonormal and right-handed");
}

// An image of disparities of which each pixel keeps the largest one.
class Seen {
 public:
  explicit Seen(Size size) : map_(size, 1, unknown) {}

  void add(double x, double y, double disparity) {
    const double column = std::floor(x + 0.5), row = std::floor(y + 0.5);
    if (!(column >= 0 && column < map_.width() && row >= 0 && row < map_.height())) return;
    float& at = map_(static_cast<int>(column), static_cast<int>(row));
    if (const auto d = static_cast<float>(disparity); !(at >= d)) at = d;
  }

  // Adds a point of the left camera's frame.
  void add(const Vector3& point, const Rig& rig) {
    const auto [x, y, z] = point;
    if (!(z > 0) || !std::isfinite(z)) return;
    add(rig.focal * x / z + rig.cx_left, rig.focal * y / z + rig.cy, rig.disparity(z));
  }

  Image<float> take() { return std::move(map_); }

 private:
  Image<float> map_;
};

// The points whose surface the camera does not see. A point hides another one only if their disparities differ by more
// than `step`.
class Hidden {
 public:
  Hidden(ImageView<const float> seeds, double step)
      : seeds_(seeds), step_(static_cast<float>(step)), counts_({seeds.width + 1, seeds.height + 1}, 1, 0) {
    for (int y = 0; y < seeds.height; ++y)
      for (int x = 0, in_row = 0; x < seeds.width; ++x) {
        in_row += std::isnan(seeds(x, y)) ? 0 : 1;
        counts_(x + 1, y + 1) = counts_(x + 1, y) + in_row;
      }
  }

  bool operator()(int x, int y) const {
    const float here = seeds_(x, y), nearer = here + std::max(step_, 0.1F * std::abs(here));
    const int most = static_cast<int>(std::ceil(3 * spacing(x, y))), reach = std::min(most, most_distance);
    constexpr int beyond = 1 << 16;
    int left = beyond, right = beyond, above = beyond, below = beyond;  // distances of nearer points
    for (int v = std::max(0, y - reach); v <= std::min(seeds_.height - 1, y + reach); ++v)
      for (int u = std::max(0, x - reach); u <= std::min(seeds_.width - 1, x + reach); ++u) {
        if (!(seeds_(u, v) > nearer)) continue;
        const int dx = u - x, dy = v - y;
        int& in_columns = dx < 0 ? left : right;
        int& in_rows = dy < 0 ? above : below;
        if (std::abs(dx) >= std::abs(dy)) in_columns = std::min(in_columns, std::abs(dx));
        if (std::abs(dy) >= std::abs(dx)) in_rows = std::min(in_rows, std::abs(dy));
      }
    return left + right <= most || above + below <= most;
  }

 private:
  // Returns the mean distance of neighbouring points, from their number nearby.
  double spacing(int x, int y) const {
    const int left = std::max(0, x - most_distance), right = std::min(seeds_.width, x + most_distance + 1);
    const int top = std::max(0, y - most_distance), bottom = std::min(seeds_.height, y + most_distance + 1);
    const int count = counts_(right, bottom) - counts_(left, bottom) - counts_(right, top) + counts_(left, top);
    return std::sqrt(static_cast<double>(right - left) * (bottom - top) / count);
  }

  const ImageView<const float> seeds_;
  const float step_;
  Image<int> counts_;  // the number of points above and to the left of a corner
};

// Calls f(x, y, disparity) for the valid pixels.
template <class F>
void for_valid(ImageView<const float> disparity, F&& f) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      if (std::isfinite(disparity(x, y))) f(x, y, disparity(x, y));
}

}  // namespace

Image<float> seeds_of_points(std::span<const std::array<float, 3>> points, const Pose& pose, const Rig& rig,
                             Size size) {
  check(rig, pose);
  if (rig.unit == no_scale)
    refuse(
        "the points of a sensor have lengths, and the calibration has no scale; estimate it with the length of the "
        "baseline");
  Seen seen(size);
  for (const auto& [x, y, z] : points) seen.add(after(pose, {no_rotation, {x, y, z}}).translation, rig);
  const Image<float> all = seen.take();
  // From one place, nothing is hidden.
  const Hidden hidden(all, std::max(1.0, rig.baseline / length(pose.translation)));
  Image<float> seeds(size, 1, unknown);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (!std::isnan(all(x, y)) && !hidden(x, y)) seeds(x, y) = all(x, y);
  return seeds;
}

Image<float> moved_disparities(ImageView<const float> disparity, const Rig& rig, const Pose& motion) {
  check(rig, motion);
  Seen seen(disparity.size());
  for_valid(disparity, [&](int x, int y, float d) {
    const Vector3 point = rig.point(x, y, d);
    if (point[2] > 0) seen.add(after(motion, {no_rotation, point}).translation, rig);
  });
  return seen.take();
}

Image<float> moved_disparities(ImageView<const float> disparity, ImageView<const float> flow) {
  if (flow.size() != disparity.size() || flow.channels != 2)
    refuse(text("the flow has ", flow.width, "×", flow.height, " pixels with ", flow.channels,
                " channels; it must have the size of the images, ", disparity.width, "×", disparity.height,
                ", and 2 channels"));
  Seen seen(disparity.size());
  for_valid(disparity,
            [&](int x, int y, float d) { seen.add(x + double{flow(x, y, 0)}, y + double{flow(x, y, 1)}, d); });
  return seen.take();
}

}  // namespace stereopsis
