// The ground in a depth map, and what stands on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// A plane in the optical frame of the left camera. The height of a point X above the plane is up · X + camera_height.
struct Ground {
  Vector3 up{0, -1, 0};      // unit vector that points up
  double camera_height = 0;  // height of the left camera above the ground, in the rig's unit; > 0
  double share = 1;          // share of the measured pixels in the lower half of the image that are on the plane
  double below = 0;          // share of these pixels that are more than 2 px behind the plane, and so below the ground
  std::string doubt = {};    // reason for which a fitted plane may not be the ground; empty if there is none
};

// Fits the ground to a depth map of the rectified left view (Z in the rig's unit; NaN, ±inf and values ≤ 0 are invalid).
// The plane with the most pixels within 1 px of its disparity in the lower half is chosen (RANSAC, always with the same samples), among
// the planes below the camera whose normal is within 40° of its y axis. Pixels whose confidence is
// below `min_confidence` are not used. Returns nothing if no plane has a tenth of these pixels.
//
// Throws Error(call) for a depth map that is empty or not of the rig's size, for a confidence of another size, and for a
// rig without focal length or baseline.
std::optional<Ground> fit_ground(ImageView<const float> depth, const Rig& rig, ImageView<const float> confidence = {},
                                 double min_confidence = 0.5);

// Limits of obstacles. The defaults are for rigs in metres.
struct ObstacleOptions {
  double nearer_than = 10;      // largest depth Z, in the rig's unit; > 0
  double lowest = 0.3;          // least height above the ground, in the rig's unit; ≥ 0
  double highest = 3;           // largest height above the ground, in the rig's unit; above `lowest`
  double min_confidence = 0.5;  // least confidence of a pixel, if the confidence is given; 0 to 1
  double min_area = 0.02;      // least area that an obstacle covers in the view, in the square of the rig's unit; ≥ 0
  double disparity_error = 1;  // least difference from the disparity of the ground, in pixels; ≥ 0
  std::optional<Ground> ground = {};  // the ground, if it is known [fitted to the depth]
};

// Returns the default options for a rig: the lengths above are in metres, and are converted if the rig's unit is mm.
ObstacleOptions obstacle_options(const Rig& rig);

// A connected region of pixels above the ground.
struct Obstacle {
  double distance = 0;    // depth Z that a twentieth of its pixels are nearer than, in the rig's unit
  Vector3 point{};        // a point of the obstacle at that depth, in the optical frame of the left camera
  double height = 0;      // height of its highest pixel above the ground, in the rig's unit
  double area = 0;        // area that it covers in the view, in the square of the rig's unit
  Rect box;               // its bounding box in the image, in pixels
  long long pixels = 0;   // number of its pixels
  double confidence = 1;  // mean confidence of its pixels; 1 without confidences
};

// The obstacles of a depth map.
struct Obstacles {
  std::vector<Obstacle> list;   // obstacles, the nearest one first
  Image<std::uint16_t> labels;  // 1 + the index in `list` for the pixels of obstacles, else 0
  Image<float> height;          // height above the ground, in the rig's unit; NaN where the depth is invalid
  Ground ground;                // the plane from which heights are measured
};

// Returns the obstacles in a depth map of the rectified left view, at most 65534, the nearest ones. Neighbouring
// pixels belong to one obstacle if their disparities differ by at most 1 px. Pixels with a lower confidence connect
// others, but do not count. Throws Error(call) as fit_ground does, for options that are not allowed, and if the
// ground is not given and none is found.
Obstacles find_obstacles(ImageView<const float> depth, const Rig& rig, const ObstacleOptions& options = {},
                         ImageView<const float> confidence = {});

}  // namespace stereopsis
