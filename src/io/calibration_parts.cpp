#include "io/calibration_parts.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "geometry/exchanged_axes.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

constexpr double largest_side = 1 << 20;

bool close_to(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

double within(const char* what, double value, double low, double high) {
  if (!(value >= low && value <= high))
    refuse(text("the ", what, " is ", number_text(value), "; it must be from ", number_text(low), " to ",
                number_text(high)));
  return value;
}

// Returns t for a matrix K·(I | t): K⁻¹ times the last column, which determines the position of the camera.
Vector3 translation(const std::vector<double>& p) {
  return {(p[3] - p[2] * p[11]) / p[0], (p[7] - p[6] * p[11]) / p[5], p[11]};
}

constexpr const char* upper_is_second =
    "the second camera is above the first; give the upper camera first, and its images as left images";

using stereopsis::axes_exchanged;

// Exchanges x and y of a projection.
std::vector<double> axes_exchanged(const std::vector<double>& p) {
  return {p[5], p[4], p[6], p[7], p[1], p[0], p[2], p[3], p[9], p[8], p[10], p[11]};
}

void check_projection(const std::string& name, const std::vector<double>& p) {
  within("focal length", p[0], 1e-3, 1e7);
  if (!close_to(p[0], p[5], 1e-3 * p[0]))
    refuse(text(name, " has the focal lengths ", number_text(p[0]), " and ", number_text(p[5]),
                "; a rectified camera must have the same in both directions"));
  for (const auto& [index, value] : {std::pair{1, 0.0}, {4, 0.0}, {8, 0.0}, {9, 0.0}, {10, 1.0}})
    if (!close_to(p[static_cast<std::size_t>(index)], value, 1e-6))
      refuse(text(name, " is not the projection of a rectified camera: element (", index / 4, ", ", index % 4, ") is ",
                  number_text(p[static_cast<std::size_t>(index)]), " and must be ", value));
}

}  // namespace

void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

void require_pair(const Inputs& inputs, const char* what) {
  if (!inputs.is_pair())
    throw Error(ErrorCategory::call, text(what, " describes only one camera; give the file of the right camera, too"));
}

std::string unit_of(const Document& file) {
  const std::string unit = file.word("unit");
  if (!unit.empty() && unit != "mm" && unit != "m" && unit != no_scale)
    refuse(text("the unit is '", Tokens::printable(unit, 40), "'; it must be mm or m, or be left out; ", no_scale,
                " stands for a rig without scale"));
  return unit;
}

Size size_of(double width, double height) {
  for (const double side : {width, height})
    if (!(side >= 1 && side <= largest_side) || side != std::floor(side))
      refuse(text("the image size is ", number_text(width), "×", number_text(height),
                  "; both must be integers from 1 to ", number_text(largest_side)));
  constexpr double most_pixels = 1 << 28;  // the same limit as for images
  if (width * height > most_pixels)
    refuse(text("the image size is ", number_text(width), "×", number_text(height), "; at most ",
                number_text(most_pixels), " pixels are supported"));
  return {static_cast<int>(width), static_cast<int>(height)};
}

Size size_under(const Document& file, const std::string& width, const std::string& height) {
  if (!file.has(width) && !file.has(height)) return {};
  return size_of(file.number(width), file.number(height));
}

Size size_of_images(const Inputs& inputs) {
  const Size size = inputs.options.size;
  if (size == Size{}) refuse("the file has no image size; add image_width and image_height");
  const auto original = [&](int side) { return static_cast<int>(std::lround(side / inputs.options.scale)); };
  return {original(size.width), original(size.height)};
}

Matrix3 matrix_of(const Document& file, const std::string& name) {
  const auto numbers = file.numbers(name, 9);
  Matrix3 m{};
  std::copy(numbers.begin(), numbers.end(), m.begin());
  return m;
}

Matrix3 checked_rotation(const Matrix3& r, const std::string& name) {
  if (!is_rotation(r, 1e-3))
    refuse(text(name, " is not a rotation; its rows must be orthonormal, and its determinant 1"));
  return r;
}

Matrix3 rotation_of(const Document& file, const std::string& name) {
  if (file.has(name) && file.numbers_up_to(name, 16).size() == 3) return rotation_by(vector_of(file, name));
  return checked_rotation(matrix_of(file, name), name);
}

Vector3 vector_of(const Document& file, const std::string& name) {
  const auto v = file.numbers(name, 3);
  return {v[0], v[1], v[2]};
}

Pose pose_of(const Document& file, const std::string& name) {
  const auto m = file.numbers(name, 16);
  return {checked_rotation({m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}, name), {m[3], m[7], m[11]}};
}

std::array<double, 4> numbers_of_matrix(const Document& file, const std::string& name) {
  const Matrix3 k = matrix_of(file, name);
  if (k[2] == 0 && k[5] == 0 && k[8] == 1 && (k[6] != 0 || k[7] != 0))
    refuse(text(name, " is transposed, as MATLAB stores it: its last row is ", number_text(k[6]), ' ',
                number_text(k[7]), " 1, and must be 0 0 1; transpose the matrices of both cameras, and R"));
  if (k[6] != 0 || k[7] != 0 || k[8] != 1)
    refuse(text(name, " is not a camera matrix: its last row is ", number_text(k[6]), ' ', number_text(k[7]), ' ',
                number_text(k[8]), ", and must be 0 0 1; give fx 0 cx, 0 fy cy, 0 0 1, row by row"));
  if (k[1] != 0)
    refuse(text(name, " has the skew ", number_text(k[1]), ", which is not supported; calibrate without skew"));
  return {k[0], k[4], k[2], k[5]};
}

Rig checked(Rig rig) {
  within("focal length", rig.focal, 1e-3, 1e7);
  for (const double c : {rig.cx_left, rig.cx_right, rig.cy}) within("principal point", c, -1e7, 1e7);
  if (rig.baseline < 0)
    refuse(text("the baseline is ", number_text(rig.baseline),
                ", because the second camera is to the left of the first; swap the cameras"));
  within("baseline", rig.baseline, 1e-9, 1e9);
  return rig;
}

std::vector<double> projection_of(const std::vector<double>& k, double x) {
  return {k[0], k[1], k[2], -k[0] * x, k[3], k[4], k[5], 0, k[6], k[7], k[8], 0};
}

bool is_vertical(const std::vector<double>& first, const std::vector<double>& second) {
  const Vector3 from = translation(first), to = translation(second);
  const auto apart = [&](std::size_t axis) { return std::abs(from[axis] - to[axis]); };
  return apart(1) > apart(0) && apart(1) > apart(2);
}

void check_direction(bool is_vertical, bool wants_vertical) {
  if (is_vertical && !wants_vertical)
    refuse(
        "the cameras are above each other, and only cameras side by side are supported; `match --vertical` matches "
        "cameras above each other");
  if (!is_vertical && wants_vertical) refuse("the cameras are side by side; leave --vertical out");
}

void exchange_if_vertical(std::vector<double>& first, std::vector<double>& second, Size& size, bool wanted) {
  check_direction(is_vertical(first, second), wanted);
  if (!wanted) return;
  if (translation(first)[1] < translation(second)[1]) refuse(upper_is_second);
  first = axes_exchanged(first);
  second = axes_exchanged(second);
  size = axes_exchanged(size);
}

Rig rig_of_projections(const std::string& left_name, const std::vector<double>& left, const std::string& right_name,
                       const std::vector<double>& right, const char* unit, Size size) {
  check_projection(left_name, left);
  check_projection(right_name, right);
  if (!close_to(left[0], right[0], 1e-3 * left[0]) || !close_to(left[6], right[6], 0.5))
    refuse(text(left_name, " and ", right_name, " differ in focal length (", number_text(left[0]), " and ",
                number_text(right[0]), ") or in the row of the principal point (", number_text(left[6]), " and ",
                number_text(right[6]), "); both must be equal in a rectified pair"));
  const Vector3 from = translation(left), to = translation(right);
  const double baseline = from[0] - to[0];
  for (const std::size_t axis : {1U, 2U}) {
    const double offset = std::abs(from[axis] - to[axis]);
    if (offset > 0.02 * std::abs(baseline))
      refuse(text("the cameras are ", number_text(std::abs(baseline)), " apart along the rows, but ",
                  number_text(offset), (axis == 1 ? " across them" : " in depth"),
                  "; only rectified cameras side by side are supported"));
  }
  if (baseline == 0)
    refuse(text(left_name, " and ", right_name, " have the baseline 0; give the calibration of two different cameras"));
  return checked({left[0], left[2], right[2], left[6], baseline, unit, size});
}

CalibrationFile computed(const RawPair& pair) {
  if (is_vertical(pair.right_from_left)) {
    if (pair.right_from_left.translation[1] > 0) refuse(upper_is_second);
    CalibrationFile file = computed({axes_exchanged(pair.size), axes_exchanged(pair.left), axes_exchanged(pair.right),
                                     axes_exchanged(pair.right_from_left), pair.unit});
    file.vertical = true;
    return file;
  }
  CalibrationFile file;
  file.cameras = stereo_rectified(pair);
  file.rig = checked(file.cameras->rig);
  file.raw_only = largest_shift(*file.cameras) > 1;
  return file;
}

bool is_for_another_size(const Rig& rig, Size size) {
  constexpr double largest = 0.2;
  const auto is_off = [](double centre, int length) { return std::abs((2 * centre + 1) / length - 1) > largest; };
  return is_off(rig.cx_left, size.width) || is_off(rig.cy, size.height);
}

bool is_left_of_first(const Pose& second_from_first) {
  return second_from_first.translation[0] > 0 && !is_vertical(second_from_first);
}

CalibrationFile computed_left_first(RawPair pair) {
  if (!is_left_of_first(pair.right_from_left)) return computed(pair);
  std::swap(pair.left, pair.right);
  pair.right_from_left = pair.right_from_left.inverse();
  CalibrationFile file = computed(pair);
  file.warnings.emplace_back(
      "the first camera in the file is to the right of the second, which is therefore used as the left one; give the "
      "images of the second camera as left images");
  return file;
}

CalibrationFile rectified(const Rig& rig, const std::function<StereoCalibration()>& read) {
  CalibrationFile file;
  file.rig = rig;
  try {
    file.cameras = read();
  } catch (const Error& error) {
    file.no_cameras = error;
  }
  return file;
}

void exchange_axes(StereoCalibration& c) {
  c.size = axes_exchanged(c.size);
  for (CalibratedCamera* camera : {&c.left, &c.right})
    *camera = {axes_exchanged(camera->lens), axes_exchanged(camera->rectification)};
}

Pose pose_of_rectification(const StereoCalibration& c) {
  const Pose left{c.left.rectification, {}}, right{c.right.rectification, {}};
  return after(right.inverse(), after({no_rotation, {-c.rig.baseline, 0, 0}}, left));
}

}  // namespace stereopsis::io
