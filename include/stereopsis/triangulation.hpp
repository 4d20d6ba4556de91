// Converts a disparity map to metric depth on the CPU. A matcher with a rig computes depth on its own device.
#pragma once

#include "stereopsis/image.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// Depth and points of a disparity map.
struct Triangulated {
  Image<float> depth;        // Z, in the rig's unit; NaN where unknown
  Image<float> points;       // x, y and z in the frame (3 channels); NaN where unknown
  Image<float> uncertainty;  // uncertainty of the depth for an error of the disparity
};

// Triangulates a disparity map. With a validity map, only measured pixels (validity 0) have depth. Throws Error(call)
// for a rig without a focal length or a baseline, and for a validity map of another size.
Triangulated triangulated(ImageView<const float> disparity, const Rig& rig, Frame frame = Frame::optical,
                          double disparity_error = 0.5, int threads = 0, ImageView<const std::uint8_t> validity = {});

// Returns the disparities of a depth map, in which the value 1 is the length `unit`, in the rig's unit. Values that are
// not finite or not above 0 are unknown, and become invalid_disparity. Throws Error(call) for a rig without a focal length,
// a baseline or a scale.
Image<float> disparity_of_depth(ImageView<const float> depth, const Rig& rig, double unit = 1);

}  // namespace stereopsis
