// Registers depth to another camera: a third camera, such as a colour camera, or the unrectified left camera.
#pragma once

#include "stereopsis/image.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// A camera with a known pose. The point X of the rectified left camera's optical frame (x right, y down, z forward) is
// rotation · X + translation in the optical frame of this camera.
struct PosedCamera {
  Lens lens;                                       // lens of the camera
  Size size;                                       // size of the camera's images
  Matrix3 rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // orientation
  Vector3 translation{};                           // translation, in the rig's unit
};

// Returns the unrectified left camera of a calibration.
PosedCamera raw_left_camera(const StereoCalibration& calibration);
// Returns a camera whose pose is known relative to the unrectified left camera: X = rotation · X_left + translation.
PosedCamera posed_relative_to_raw(const PosedCamera& camera, const StereoCalibration& calibration);

// Depth in the view of another camera. All images have the size of that camera's images. Pixels whose surface the left
// camera does not see are NaN.
struct RegisteredDepth {
  Image<float> depth;   // Z in the camera's frame, in the rig's unit
  Image<float> points;  // 3 channels: x, y and z in the camera's frame, in the rig's unit
  Image<float> source;  // 2 channels: column and row in the rectified left image at which the point is visible
};

// Registers a depth map of the rectified left view (Z in the rig's unit; NaN, ±inf and values ≤ 0 are invalid).
//
// Neighbouring pixels whose disparities differ by at most 1 belong to one surface. Each 2×2 block of a surface gives
// two triangles, which are projected and drawn with a z-buffer. A pixel takes the depth of the nearest triangle at the
// centre of the pixel. Depth is interpolated over a triangle so that planes stay planes. A triangle that is seen from
// behind hides surfaces behind it, but has no depth itself, because the left camera sees only its front. A pixel that
// belongs to no triangle is drawn as one point. The result does not depend on `threads`; 0 uses all cores.
//
// Throws Error(call) for a depth map that is empty or not of the rig's size, and for a rig without focal length or
// baseline. Throws Error(call) for a camera without a focal length, an image size, a rotation or a finite translation.
RegisteredDepth register_depth(ImageView<const float> depth, const Rig& rig, const PosedCamera& camera,
                               int threads = 0);

}  // namespace stereopsis
