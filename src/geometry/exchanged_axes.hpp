// Cameras above each other: after an exchange of rows and columns, their images
// are those of cameras side by side. The functions exchange x and y in the
// description of a camera.
#pragma once

#include <utility>

#include "geometry/rotations.hpp"
#include "stereopsis/registration.hpp"

namespace stereopsis {

inline Size axes_exchanged(Size size) { return {size.height, size.width}; }

inline Vector3 axes_exchanged(const Vector3& v) { return {v[1], v[0], v[2]}; }

inline Matrix3 axes_exchanged(const Matrix3& r) { return {r[4], r[3], r[5], r[1], r[0], r[2], r[7], r[6], r[8]}; }

inline Pose axes_exchanged(const Pose& pose) {
  return {axes_exchanged(pose.rotation), axes_exchanged(pose.translation)};
}

inline Lens axes_exchanged(Lens lens) {
  std::swap(lens.fx, lens.fy);
  std::swap(lens.cx, lens.cy);
  if (lens.model == Lens::Model::fisheye) return lens;
  auto& d = lens.distortion;
  std::swap(d[2], d[3]);   // p1 and p2
  std::swap(d[8], d[10]);  // s1 and s3
  std::swap(d[9], d[11]);  // s2 and s4
  return lens;
}

inline PosedCamera axes_exchanged(const PosedCamera& camera) {
  return {axes_exchanged(camera.lens), axes_exchanged(camera.size), axes_exchanged(camera.rotation),
          axes_exchanged(camera.translation)};
}

}  // namespace stereopsis
