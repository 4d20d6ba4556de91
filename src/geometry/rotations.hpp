// Rotations and poses of cameras.
#pragma once

#include <cmath>

#include "stereopsis/pose.hpp"

namespace stereopsis {

inline constexpr Matrix3 no_rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};

inline Vector3 turned(const Matrix3& r, const Vector3& v) {
  return {r[0] * v[0] + r[1] * v[1] + r[2] * v[2], r[3] * v[0] + r[4] * v[1] + r[5] * v[2],
          r[6] * v[0] + r[7] * v[1] + r[8] * v[2]};
}

inline Matrix3 transposed(const Matrix3& r) { return {r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]}; }

inline Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  return c;
}

inline double determinant(const Matrix3& r) {
  return r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
}

constexpr double rotation_tolerance = 0.01;  // ten times that of calibration files, as rotations may be products

// Returns whether the rows are orthonormal, to `tolerance`, and right-handed. A matrix with NaN is no rotation.
inline bool is_rotation(const Matrix3& r, double tolerance) {
  const Matrix3 square = product(r, transposed(r));
  for (std::size_t i = 0; i < 9; ++i)
    if (!(std::abs(square[i] - no_rotation[i]) <= tolerance)) return false;
  return determinant(r) > 0;
}

inline double length(const Vector3& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Returns the rotation about the axis `v` by the angle |v| (Rodrigues).
inline Matrix3 rotation_by(const Vector3& v) {
  const double angle = length(v);
  if (angle == 0) return no_rotation;
  const double x = v[0] / angle, y = v[1] / angle, z = v[2] / angle;
  const double c = std::cos(angle), s = std::sin(angle), t = 1 - c;
  return {t * x * x + c,     t * x * y - s * z, t * x * z + s * y,  //
          t * x * y + s * z, t * y * y + c,     t * y * z - s * x,  //
          t * x * z - s * y, t * y * z + s * x, t * z * z + c};
}

// Inverts rotation_by() for angles below 180°.
inline Vector3 axis_and_angle_of(const Matrix3& r) {
  const Vector3 v = {(r[7] - r[5]) / 2, (r[2] - r[6]) / 2, (r[3] - r[1]) / 2};
  const double sine = length(v), angle = std::atan2(sine, (r[0] + r[4] + r[8] - 1) / 2);
  const double scale = sine > 0 ? angle / sine : 1;
  return {scale * v[0], scale * v[1], scale * v[2]};
}

// Returns the rotation of a quaternion (Hamilton's convention), which need not have the length 1.
inline Matrix3 rotation_of_quaternion(double w, double x, double y, double z) {
  const double n = 2 / (w * w + x * x + y * y + z * z);
  return {1 - n * (y * y + z * z), n * (x * y - w * z),     n * (x * z + w * y),  //
          n * (x * y + w * z),     1 - n * (x * x + z * z), n * (y * z - w * x),  //
          n * (x * z - w * y),     n * (y * z + w * x),     1 - n * (x * x + y * y)};
}

}  // namespace stereopsis
