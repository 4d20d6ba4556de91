// Seeds, disparities of the rectified left image that are known beforehand: from the points of another sensor, and from
// the map of the frame before. A pixel that no point reaches is NaN.
#pragma once

#include <array>
#include <span>

#include "stereopsis/image.hpp"
#include "stereopsis/pose.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// Returns the disparities at which the rectified left camera of the rig sees points, for images of `size`. `pose` moves
// the points of the sensor into the camera's optical frame (x right, y down, z forward), in the rig's unit. Of several
// points in a pixel, the nearest one remains. A sensor beside the camera also sees surfaces that are hidden from the
// camera. A point is left out if it lies between two nearer points that are at most three times the spacing of the points
// apart; nearer by a tenth, by 1 pixel of disparity, and by a pixel of parallax between sensor and camera. Points that are
// not finite or not in front of the camera are left out. Throws Error(call) for a rig without a focal length, a baseline
// or a scale, for a rotation that is none, and for a size without pixels.
Image<float> seeds_of_points(std::span<const std::array<float, 3>> points, const Pose& pose, const Rig& rig, Size size);

// The trust in the disparities of the frame before, 0 to 1.
inline constexpr float trust_of_frame_before = 0.8F;

// Returns the disparities of the frame before, NaN where invalid, as the present frame sees them. `motion` moves points of
// the rectified left camera's optical frame at the frame before to those at the present frame, in the rig's unit. Where
// several surfaces meet, the nearest one remains. Throws Error(call) as seeds_of_points() does.
Image<float> moved_disparities(ImageView<const float> disparity, const Rig& rig, const Pose& motion);

// Returns the same for a motion by optical flow. The flow has 2 channels: the columns and the rows by which each pixel of
// the frame before has moved since; NaN where unknown. The disparities stay as they are. Throws Error(call) for a flow of
// another size.
Image<float> moved_disparities(ImageView<const float> disparity, ImageView<const float> flow);

}  // namespace stereopsis
