// Generated stereo pairs with exactly known disparity: the project's own test data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// A scene is made of slanted planes, curved surfaces, thin things and boards with holes, and two cameras cast rays
// through each pixel. It grows with the image and stretches with the range: disparities go from about 5 % to about 95 %
// of disparities − 1, never beyond. Only images a few pixels wide or high may show less of that.
struct SceneOptions {
  std::string scene = "table";  // one of scene_names()
  Size size = {640, 480};
  int disparities = 64;    // at least 1; all true disparities lie in [0, disparities − 1]
  std::uint64_t seed = 1;  // of textures, noise and what is placed at random
  // Of the right image: 255 · gain · (1 − vignetting · r²) · (I / 255)^gamma, where r is the distance from the centre,
  // 1 in the corners.
  double gain = 1;        // 0 to 100
  double gamma = 1;       // 0.1 to 10
  double vignetting = 0;  // 0 to 1: share of the light lost in the corners
  double noise = 0;       // 0 to 255: standard deviation in grey levels, in each channel of both images
};

struct Scene {
  Image<std::uint8_t> left, right;               // RGB
  Image<float> disparity_left, disparity_right;  // exact, sub-pixel; every pixel has one
  // 255 = the point at the pixel's centre is visible in both views; 128 = it is hidden in the other view, or outside:
  // farther than half a pixel from the nearest pixel of that image.
  Image<std::uint8_t> nonocc_left, nonocc_right;
  // 255 = non-occluded and near a depth discontinuity: within 4 pixels (a window of 9×9, as at Middlebury) of a pixel
  // whose disparity differs by more than 1 from one of its 4 neighbours; 128 = other non-occluded; 0 = occluded.
  Image<std::uint8_t> disc_left;
};

// table (a room), street, planes, curved, thin, repetitive, textureless and mix.
const std::vector<std::string>& scene_names();

// The same options give the same bytes on every machine. Throws Error(call) for what is not allowed.
Scene make_scene(const SceneOptions& options);

}  // namespace stereopsis
