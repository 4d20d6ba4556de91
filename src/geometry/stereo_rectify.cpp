#include "geometry/stereo_rectify.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "geometry/lens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

constexpr double steepest_turn = 1.2;  // largest angle between the cameras, in radians
constexpr double least_focal = 1.0 / 3;
constexpr int steps = 32;  // number of samples along each side of an image

[[noreturn]] void refuse_cameras(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

[[noreturn]] void refuse_apart() {
  refuse_cameras("the images of the two cameras do not overlap after rectification; check the rotation and the lenses");
}

Vector3 scaled(const Vector3& v, double factor) { return {factor * v[0], factor * v[1], factor * v[2]}; }

// Returns the rotation that turns the first camera back by half of the rotation between both.
Matrix3 half_turn_back(const Pose& pose) { return rotation_by(scaled(axis_and_angle_of(pose.rotation), -0.5)); }

// Sets the rectifying rotations of both cameras, and returns the baseline.
double align(const Pose& pose, StereoCalibration& c) {
  const Vector3 turn = axis_and_angle_of(pose.rotation);
  if (length(turn) > steepest_turn)
    refuse_cameras(text("the right camera is turned by ", number_text(std::round(length(turn) * 573) / 10),
                        "° from the left camera; at most 69° are supported; check the rotation and its direction"));
  const Matrix3 half_back = half_turn_back(pose);
  const Vector3 t = turned(half_back, pose.translation);
  const double baseline = length(t);
  if (!(baseline > 0))
    refuse_cameras("the cameras are at the same place; give the translation from the left to the right camera");
  if (std::abs(t[1]) > std::abs(t[0]) || std::abs(t[2]) > std::abs(t[0]))
    refuse_cameras(text("the right camera is ", number_text(std::abs(t[0])), " beside the left one, but ",
                        number_text(std::abs(t[1])), " above or below and ", number_text(std::abs(t[2])),
                        " before or behind it; only cameras side by side are supported"));
  if (t[0] > 0)
    refuse_cameras("the second camera is to the left of the first; swap the cameras, or invert the pose between them");
  // The rotation turns −t onto the x axis, about the axis perpendicular to both.
  const Vector3 axis = cross(scaled(t, -1 / baseline), {1, 0, 0});
  const double sine = length(axis);
  const Matrix3 level = sine > 0 ? rotation_by(scaled(axis, std::asin(std::min(1.0, sine)) / sine)) : no_rotation;
  c.left.rectification = product(level, transposed(half_back));
  c.right.rectification = product(level, half_back);
  return baseline;
}

// Returns the position of a raw pixel in the rectified image of a camera with focal length 1 and principal point (0,
// 0).
std::array<double, 2> rectified_pixel(const CalibratedCamera& camera, double x, double y) {
  constexpr double least_depth = 0.1;
  const Vector3 ray = turned(camera.rectification, InverseLens(camera.lens)(x, y));
  const double z = std::max(ray[2], least_depth * length(ray));
  return {ray[0] / z, ray[1] / z};
}

// A rectangle of the rectified plane, for focal length 1 and principal point (0, 0).
struct Rectangle {
  double left, top, right, bottom;
};
// The largest rectangle inside the borders of both rectified images, and the smallest one around them.
struct Bounds {
  Rectangle inner{-1e9, -1e9, 1e9, 1e9}, outer{1e9, 1e9, -1e9, -1e9};

  void add(const CalibratedCamera& camera, Size size) {
    for (int i = 0; i <= steps; ++i) {
      const double x = (size.width - 1.0) * i / steps, y = (size.height - 1.0) * i / steps;
      const double left = rectified_pixel(camera, 0, y)[0], right = rectified_pixel(camera, size.width - 1.0, y)[0];
      const double top = rectified_pixel(camera, x, 0)[1], bottom = rectified_pixel(camera, x, size.height - 1.0)[1];
      inner = {std::max(inner.left, left), std::max(inner.top, top), std::min(inner.right, right),
               std::min(inner.bottom, bottom)};
      outer = {std::min(outer.left, left), std::min(outer.top, top), std::max(outer.right, right),
               std::max(outer.bottom, bottom)};
    }
  }
};

// Returns the focal lengths with which the sides of the image reach the sides of a rectangle; below 0 for a side that the
// principal point lies beyond.
std::array<double, 4> focals(const Rig& rig, Size size, const Rectangle& r) {
  const std::array<std::pair<double, double>, 4> sides = {{{rig.cx_left, -r.left},
                                                           {rig.cy, -r.top},
                                                           {size.width - 1.0 - rig.cx_left, r.right},
                                                           {size.height - 1.0 - rig.cy, r.bottom}}};
  std::array<double, 4> found{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto& [reach, limit] = sides[i];
    if (!(limit > 0)) refuse_apart();
    found[i] = reach / limit;
  }
  return found;
}

// Returns the mean of the image's corners after rectification, for focal length 1 and principal point (0, 0).
std::array<double, 2> middle(const CalibratedCamera& camera, Size size) {
  std::array<double, 2> sum{};
  for (const int corner : {0, 1, 2, 3}) {
    const auto [x, y] = rectified_pixel(camera, corner % 2 * (size.width - 1.0), corner / 2 * (size.height - 1.0));
    sum[0] += x / 4, sum[1] += y / 4;
  }
  return sum;
}

}  // namespace

bool is_vertical(const Pose& second_from_first) {
  const Vector3 t = turned(half_turn_back(second_from_first), second_from_first.translation);
  return std::abs(t[1]) > std::abs(t[0]) && std::abs(t[1]) > std::abs(t[2]);
}

StereoCalibration stereo_rectified(const RawPair& pair, double zoom) {
  StereoCalibration c;
  c.size = pair.size;
  c.left.lens = pair.left;
  c.right.lens = pair.right;
  c.rotation = pair.right_from_left.rotation;
  c.translation = pair.right_from_left.translation;
  Rig& rig = c.rig;
  rig.baseline = align(pair.right_from_left, c);
  rig.unit = pair.unit;
  rig.size = pair.size;

  const double natural = (pair.left.fy + pair.right.fy) / 2;
  const auto left = middle(c.left, c.size), right = middle(c.right, c.size);
  const double last_x = c.size.width - 1.0, last_y = c.size.height - 1.0;
  rig.cx_left = rig.cx_right = last_x / 2 - natural * (left[0] + right[0]) / 2;
  rig.cy = last_y / 2 - natural * (left[1] + right[1]) / 2;

  Bounds bounds;
  bounds.add(c.left, c.size);
  bounds.add(c.right, c.size);
  const double complete = std::max(least_focal * natural, std::ranges::max(focals(rig, c.size, bounds.inner)));
  const double whole = zoom > 0 ? std::ranges::min(focals(rig, c.size, bounds.outer)) : complete;
  if (!(whole > 0)) refuse_apart();
  rig.focal = complete + zoom * (whole - complete);
  return c;
}

void close_gaps(StereoCalibration& c) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    const RectificationMaps maps = rectification_maps(c);
    if (maps.left_complete && maps.right_complete) return;
    c.rig.focal *= 1.0025;
  }
}

double largest_shift(const StereoCalibration& c) {
  double largest = 0;
  for (const auto& [camera, cx] : {std::pair{&c.left, c.rig.cx_left}, {&c.right, c.rig.cx_right}})
    for (const auto& [x, y] : {std::pair{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}, {0.5, 0.5}}) {
      const double px = x * (c.size.width - 1), py = y * (c.size.height - 1);
      const auto [u, v] = rectified_pixel(*camera, px, py);
      largest = std::max(largest, std::hypot(u * c.rig.focal + cx - px, v * c.rig.focal + c.rig.cy - py));
    }
  return largest;
}

}  // namespace stereopsis
