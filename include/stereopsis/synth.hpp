// Generated stereo pairs with exactly known disparity; the project uses them as test data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Options of a scene, which consists of slanted planes, curved surfaces, thin objects and panels with holes; two
// cameras cast rays through each pixel. The scene scales with the image and with the range: disparities cover about 5 %
// to 95 % of disparities − 1, never more. Images a few pixels wide or high may cover less.
struct SceneOptions {
  std::string scene = "table";  // one of scene_names()
  Size size = {640, 480};       // size of each image
  int disparities = 64;         // at least 1; all true disparities lie in [0, disparities − 1]
  std::uint64_t seed = 1;       // seed of textures, noise and random positions
  // Changes of the right image: 255 · gain · (1 − vignetting · r²) · (I / 255)^gamma, where r is the distance from the
  // centre, 1 in the corners.
  double gain = 1;        // 0 to 100
  double gamma = 1;       // 0.1 to 10
  double vignetting = 0;  // 0 to 1: fraction of the light lost in the corners
  double noise = 0;       // 0 to 255: standard deviation in grey levels, in each channel of both images
  double light = 0;       // 0 to 1: strength of a smooth change of light across the right image
  // Effects on both images. Truth and masks are those of ideal cameras.
  double shot_noise = 0;  // 0 to 255: standard deviation at full intensity; its square is proportional to intensity
  double defocus = 0;     // 0 to 6 pixels: radius of blur at the far end of the range if the near end is in focus
  double focus = .5;      // 0 to 1: disparity in focus, as a fraction of the range
  double motion = 0;      // 0 to 50 pixels: length of a horizontal blur
  double blur_left = 0, blur_right = 0;  // 0 to 10 pixels: standard deviation of each image's blur
  double sharpening = 0;                 // 0 to 4: share of the difference from a blurred image that is added
  // Rectification error: the right image shows row y + vertical_offset + vertical_slope · x', x' from −½ to ½ across.
  double vertical_offset = 0, vertical_slope = 0;  // −20 to 20 rows
  // Part of the image to generate; empty: the whole image. The result equals that part of the whole image, except that
  // points outside the part count as occluded, and that blur replicates the border of the part.
  Rect window = {};
};

// A pair with its ground truth.
struct Scene {
  Image<std::uint8_t> left, right;               // RGB
  Image<float> disparity_left, disparity_right;  // exact, sub-pixel, defined for every pixel
  // 255 = the point at the pixel's centre is visible in both views; 128 = it is half-occluded, or outside the other
  // view: farther than half a pixel from the nearest pixel of that image.
  Image<std::uint8_t> nonocc_left, nonocc_right;
  // 255 = non-occluded and near a depth discontinuity: within 4 pixels (a window of 9×9, as in Middlebury) of a pixel
  // whose disparity differs by more than 1 from one of its 4 neighbours; 128 = other non-occluded pixels; 0 = occluded.
  Image<std::uint8_t> disc_left;
};

// Returns the names of all scenes: table (a room), street, planes, curved, thin, repetitive, textureless and mix; and
// room, road, garden, clutter and leaves, which differ for each seed.
const std::vector<std::string>& scene_names();

// Returns a random scene, range, camera and light, distributed like those of real pairs, for training data. The window
// of `size` lies at a random position in a picture of size `picture`; there are at most `disparities` disparities.
SceneOptions random_scene(Size size, Size picture, int disparities, std::uint64_t seed);

// Generates a scene. The same options give the same bytes on every machine. Throws Error(call) for invalid options.
Scene make_scene(const SceneOptions& options);

// Generates scenes in parallel, one thread each; `take(i, scene)` is called from these threads, in any order.
void make_scenes(const std::vector<SceneOptions>& options, const std::function<void(int, const Scene&)>& take);

}  // namespace stereopsis
