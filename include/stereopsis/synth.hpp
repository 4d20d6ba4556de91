// Generated stereo pairs with exactly known disparity: the project's own test data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

struct SceneOptions {
  std::string scene = "table";  // one of scene_names()
  Size size = {640, 480};
  int disparities = 64;  // all true disparities lie in [0, disparities − 1]
  std::uint64_t seed = 1;
  double gain = 1;      // of the right image's intensities
  double gamma = 1;     // of the right image
  double vignetting = 0;  // of the right image: share of the light lost in the corners, 0 to 1
  double noise = 0;       // standard deviation, grey levels, in both images
};

struct Scene {
  Image<std::uint8_t> left, right;              // RGB
  Image<float> disparity_left, disparity_right;  // exact, sub-pixel; every pixel has one
  // 255 = visible in both views; 128 = occluded in the other view
  Image<std::uint8_t> nonocc_left, nonocc_right;
  // 255 = non-occluded and near a depth discontinuity; 128 = other non-occluded; 0 = occluded
  Image<std::uint8_t> disc_left;
};

const std::vector<std::string>& scene_names();

// The same options give the same bytes on every machine. Throws Error(call) for what is not allowed.
Scene make_scene(const SceneOptions& options);

}  // namespace stereopsis
