// Registers depth to another camera: a third one, such as a colour camera, or the unrectified left one.
#pragma once

#include "stereopsis/image.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// A camera with a known pose. The point X of the rectified left camera's optical frame (x right, y down, z forward) is
// rotation · X + translation in the optical frame of this camera.
struct PosedCamera {
  Lens lens;                                       // lens of its images
  Size size;                                       // size of its images
  Matrix3 rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // orientation
  Vector3 translation{};                           // in the rig's unit
};

// Returns the unrectified left camera of a calibration.
PosedCamera raw_left_camera(const StereoCalibration& calibration);
// Returns a camera whose pose is known relative to the unrectified left camera: X = rotation · X_left + translation.
PosedCamera posed_relative_to_raw(const PosedCamera& camera, const StereoCalibration& calibration);

// Depth as a camera sees it. All images have the size of its images, and NaN where the left camera does not see what
// this camera sees.
struct RegisteredDepth {
  Image<float> depth;   // Z in the camera's frame, in the rig's unit
  Image<float> points;  // 3 channels: x, y and z in the camera's frame, in the rig's unit
  Image<float> source;  // 2 channels: column and row in the rectified left image at which the point is visible
};

// Registers a depth map of the rectified left view (Z in the rig's unit; NaN, ±inf and values ≤ 0 are invalid).
//
// Neighbouring pixels whose disparities differ by at most 1 belong to one surface. Each 2×2 block of a surface gives
// two triangles, which are projected and drawn with a z-buffer: at the centre of each pixel the nearest triangle
// counts, and Z is interpolated so that planes stay planes. A triangle that is seen from behind hides what lies behind
// it and has no depth itself, because the left camera sees its other side. A pixel that belongs to no triangle is drawn
// as one point. The result does not depend on `threads`; 0 uses all cores.
//
// Throws Error(call) for a depth map that is empty or not of the rig's size, for a rig without focal length or
// baseline, and for a camera without a focal length or an image size.
RegisteredDepth register_depth(ImageView<const float> depth, const Rig& rig, const PosedCamera& camera,
                               int threads = 0);

}  // namespace stereopsis
