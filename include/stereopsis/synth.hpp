// Generated stereo pairs with exactly known disparity: the project's own test data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// A scene is made of slanted planes, curved surfaces, thin things and boards with holes, and two cameras cast rays
// through each pixel. It grows with the image and stretches with the range: disparities go from about 5 % to about 95 %
// of disparities − 1, never beyond. Only images a few pixels wide or high may show less of that.
struct SceneOptions {
  std::string scene = "table";  // one of scene_names()
  Size size = {640, 480};       // of each image
  int disparities = 64;         // at least 1; all true disparities lie in [0, disparities − 1]
  std::uint64_t seed = 1;       // of textures, noise and what is placed at random
  // Of the right image: 255 · gain · (1 − vignetting · r²) · (I / 255)^gamma, where r is the distance from the centre,
  // 1 in the corners.
  double gain = 1;        // 0 to 100
  double gamma = 1;       // 0.1 to 10
  double vignetting = 0;  // 0 to 1: share of the light lost in the corners
  double noise = 0;       // 0 to 255: standard deviation in grey levels, in each channel of both images
  double light = 0;       // 0 to 1: share by which smooth light differs from place to place, in the right image
  // Of both images. Truth and masks are those of ideal cameras.
  double shot_noise = 0;  // 0 to 255: standard deviation at full intensity; its square is proportional to intensity
  double defocus = 0;     // 0 to 6 pixels: radius of blur at the far end of the range where the near one is in focus
  double focus = .5;      // 0 to 1: what is in focus, as a share of the range of disparities
  double motion = 0;      // 0 to 50 pixels: length of a level blur
  double blur_left = 0, blur_right = 0;  // 0 to 10 pixels: standard deviation of each image's blur
  double sharpening = 0;                 // 0 to 4: as cameras do, share of the difference from a blurred image
  // Rectification error: the right image shows its row y + vertical_offset + vertical_slope · x', x' from −½ to ½ across.
  double vertical_offset = 0, vertical_slope = 0;  // −20 to 20 rows
  // The part of the picture that is made; empty for all of it. What lies outside counts as hidden, and blur replicates
  // the part's border; else the images are those of the whole picture, cut.
  Rect window = {};
};

// A pair with its truth.
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

// table (a room), street, planes, curved, thin, repetitive, textureless and mix; and, other ones for each seed, room, road,
// garden, clutter and leaves.
const std::vector<std::string>& scene_names();

// A scene, a range, a camera and light drawn at random, as real pairs have them: training data. Of the picture of size
// `picture` the window of `size` at a place drawn, too; disparities at most `disparities`.
SceneOptions random_scene(Size size, Size picture, int disparities, std::uint64_t seed);

// The same options give the same bytes on every machine. Throws Error(call) for what is not allowed.
Scene make_scene(const SceneOptions& options);

// Scenes side by side, a thread each; `take(i, scene)` is called from these threads, in any order.
void make_scenes(const std::vector<SceneOptions>& options, const std::function<void(int, const Scene&)>& take);

}  // namespace stereopsis
