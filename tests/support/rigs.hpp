// Cameras with known lenses and slightly different orientations, and their images, for the geometry tests.
#pragma once

#include <cmath>
#include <functional>

#include "geometry/rotations.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/rig_refinement.hpp"
#include "stereopsis/rig_tracking.hpp"

namespace stereopsis::test {

// Returns the rotation by `angle` about the unit axis.
inline Matrix3 rotation(const Vector3& axis, double angle) {
  return rotation_by({angle * axis[0], angle * axis[1], angle * axis[2]});
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
  c.rotation = product(back, c.left.rectification);
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

// Returns what the right camera of a rectified pair sees after it has turned.
inline AnyImage seen_after(const AnyImageView& right, const Rig& rig, const RigTurn& turn) {
  const StereoCalibration back = turned(cameras_of(rig), {-turn.pitch, -turn.yaw, -turn.roll});
  return rectified(right, rectification_maps(back).right).image;
}

}  // namespace stereopsis::test
