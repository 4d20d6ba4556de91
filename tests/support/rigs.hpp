// Cameras with known lenses and slightly different orientations, and their images, for the geometry tests.
#pragma once

#include <cmath>
#include <functional>

#include "stereopsis/rectification.hpp"

namespace stereopsis::test {

// Returns the rotation by `angle` about the unit axis.
inline Matrix3 rotation(Vector3 axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle), t = 1 - c, x = axis[0], y = axis[1], z = axis[2];
  return {t * x * x + c,     t * x * y - s * z, t * x * z + s * y,  //
          t * x * y + s * z, t * y * y + c,     t * y * z - s * x,  //
          t * x * z - s * y, t * y * z + s * x, t * z * z + c};
}

inline Matrix3 transposed(const Matrix3& r) { return {r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]}; }

inline Vector3 turned(const Matrix3& r, const Vector3& v) {
  return {r[0] * v[0] + r[1] * v[1] + r[2] * v[2], r[3] * v[0] + r[4] * v[1] + r[5] * v[2],
          r[6] * v[0] + r[7] * v[1] + r[8] * v[2]};
}

// Returns two cameras of 640×480 pixels, scaled to `size`. The rectified images have a different size.
inline StereoCalibration calibration_for(Size size, Lens::Model model = Lens::Model::polynomial) {
  const double s = size.width / 640.0;
  StereoCalibration c;
  c.size = size;
  c.rig.focal = 430 * s;
  c.rig.cx_left = 322 * s, c.rig.cx_right = 330 * s, c.rig.cy = 239 * s;
  c.rig.baseline = 120;
  c.rig.unit = "mm";
  c.rig.size = {size.width + 3, size.height - 2};
  c.left.lens = {.fx = 500 * s, .fy = 502 * s, .cx = 318 * s, .cy = 244 * s, .model = model, .distortion = {}};
  c.right.lens = {.fx = 498 * s, .fy = 499 * s, .cx = 331 * s, .cy = 236 * s, .model = model, .distortion = {}};
  if (model == Lens::Model::fisheye) {
    c.left.lens.distortion = {0.02, -0.01, 0.003, -0.001};
    c.right.lens.distortion = {0.01, 0.004, -0.002, 0.0005};
  } else {
    c.left.lens.distortion = {-0.25, 0.07, 0.001, -0.0005, -0.01, 0.02, -0.01, 0.001, 0.0003, -0.0001, 0.0002, 0.0001};
    c.right.lens.distortion = {-0.27, 0.09, -0.0004, 0.0007, -0.02};
  }
  c.left.rectification = rotation({0.6, 0.8, 0}, 0.02);
  c.right.rectification = rotation({0, 0.6, 0.8}, -0.03);
  const Matrix3 back = transposed(c.right.rectification);
  for (std::size_t column = 0; column < 3; ++column) {
    const Vector3 v = turned(
        back, {c.left.rectification[column], c.left.rectification[3 + column], c.left.rectification[6 + column]});
    for (std::size_t row = 0; row < 3; ++row) c.rotation[3 * row + column] = v[row];
  }
  c.translation = turned(back, {-c.rig.baseline, 0, 0});
  return c;
}

// Returns the ray (x, y, 1) of a pixel: inverts Lens::project by fixed-point iteration on the distortion.
inline Vector3 ray_of(const Lens& lens, double px, double py) {
  double x = (px - lens.cx) / lens.fx, y = (py - lens.cy) / lens.fy;
  for (int i = 0; i < 20; ++i) {
    const auto [u, v] = lens.project({x, y, 1});
    x += (px - u) / lens.fx;
    y += (py - v) / lens.fy;
  }
  return {x, y, 1};
}

// Renders the image of a raw camera. `colour` maps the ray of a pixel in the rectified frame to a grey level. The rays
// of the right camera start at (baseline, 0, 0).
inline Image<std::uint8_t> seen_by(const CalibratedCamera& camera, Size size,
                                   const std::function<double(const Vector3&)>& colour) {
  Image<std::uint8_t> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      double sum = 0;
      for (const double dy : {-0.25, 0.25})
        for (const double dx : {-0.25, 0.25})
          sum += colour(turned(camera.rectification, ray_of(camera.lens, x + dx, y + dy)));
      image(x, y) = static_cast<std::uint8_t>(std::lround(std::min(255.0, std::max(0.0, sum / 4))));
    }
  return image;
}

}  // namespace stereopsis::test
