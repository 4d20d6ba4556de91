// Generates stereo pairs with exactly known disparity, such as the test data of this project.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Options of a scene. A scene consists of slanted planes, curved surfaces, thin objects and panels with holes; two
// cameras cast rays through each pixel. The scene scales with the image and with the range: disparities cover about 5 %
// to 95 % of the range, and never exceed it. Images that are only a few pixels wide or high may cover less of the
// range.
struct SceneOptions {
  std::string scene = "table";  // one of scene_names()
  Size size = {640, 480};       // size of each image
  int disparities = 64;         // at least 1; all true disparities lie in [0, disparities − 1]
  std::uint64_t seed = 1;       // seed of textures, noise and random positions
  double focal_length = 0;      // 0 to 5 image widths; 0: that of the scene
  // Changes of the right image: 255 · gain · (1 − vignetting · r²) · (I / 255)^gamma, where r is the distance from the
  // centre, 1 in the corners.
  double gain = 1;        // 0 to 100
  double gamma = 1;       // 0.1 to 10
  double vignetting = 0;  // 0 to 1: fraction of the light lost in the corners
  double noise = 0;       // 0 to 255: standard deviation in grey levels, in each channel of both images
  double light = 0;       // 0 to 1: strength of a smooth change of light across the right image
  // Effects on both images. Truth and masks are not affected by these effects.
  double shot_noise = 0;  // 0 to 255: standard deviation at full intensity; the variance is proportional to intensity
  double defocus = 0;     // 0 to 6 pixels: radius of blur at the far end of the range if the near end is in focus
  double focus = .5;      // 0 to 1: disparity in focus, as a fraction of the range
  double motion = 0;      // 0 to 50 pixels: length of a horizontal blur
  double blur_left = 0, blur_right = 0;  // 0 to 10 pixels: standard deviation of each image's blur
  double sharpening = 0;                 // 0 to 4: share of the difference from a blurred image that is added
  // Both images become min(exposure · I, 1)^tone of the light I. An exposure above 1 saturates bright surfaces and the
  // sky; a tone above 1 makes shadows dark.
  double exposure = 1;  // 0 to 20
  double tone = 1;      // 0.1 to 10
  double flare = 0;     // 0 to 1: light of a source at infinity that the lenses scatter; equal places in both images
  // Processing of the images after the sensor.
  double demosaicing = 0;  // 0 to 1: share of each pixel that is interpolated from a Bayer mosaic
  double jpeg = 0;         // 0 to 100: quality of JPEG compression; 0: none
  double resampling = 0;   // 0 to 4 pixels: bend of the raw images, which bilinear interpolation rectifies exactly
  // Rectification error: the right image shows row y + vertical_offset + vertical_slope · x', where x' goes from −½ to
  // ½ across the image.
  double vertical_offset = 0, vertical_slope = 0;  // −20 to 20 rows
  // Rows that no plane follows: the right image shows row y + vertical_wave · sin(2π · y / vertical_period) · w + r, where w
  // is cos(2π · x / vertical_period_x), or 1 if that period is 0, and r is uniform within ± vertical_jitter for each row.
  double vertical_wave = 0;      // −20 to 20 rows
  double vertical_period = 160;  // 10 to 100,000 pixels
  double vertical_period_x = 0;  // 0, or 10 to 100,000 pixels
  double vertical_jitter = 0;    // 0 to 20 rows
  // Part of the image to generate; an empty part means the whole image. The result equals this part of the whole image
  // with two exceptions: points outside the part count as occluded, and blur replicates the border of the part.
  Rect window = {};
};

// A pair with its ground truth.
struct Scene {
  Image<std::uint8_t> left, right;               // RGB
  Image<float> disparity_left, disparity_right;  // exact, sub-pixel, defined for every pixel
  // 255 = the point at the pixel's centre is visible in both views; 128 = the point is half-occluded, or more than half
  // a pixel outside the other image.
  Image<std::uint8_t> nonocc_left, nonocc_right;
  // 255 = non-occluded and near a depth discontinuity; 128 = other non-occluded pixels; 0 = occluded. A pixel is near a
  // discontinuity if a pixel within 4 pixels (a window of 9×9, as in Middlebury) differs by more than 1 in disparity
  // from one of its 4 neighbours.
  Image<std::uint8_t> disc_left;
};

// Returns the names of all scenes. The scenes table, street, planes, curved, thin, repetitive, textureless and mix are
// fixed. The other scenes differ for each seed: room, road, garden, clutter and leaves are simple; traffic, hills, thicket
// and interior look like photographs, with hard shadows, skies brighter than white, panes, reflections and lamps. The
// truth of glass and mirrors is that of their surface. The sky, bright or not, is at the far end of the range.
const std::vector<std::string>& scene_names();

// Returns the names of all mixtures of random scenes: "varied" (rooms, roads, gardens, clutter, dead leaves and fixed
// scenes), "indoor", "road", "plants", "hard" (periodic, plain and thin surfaces), and "mixed", of which half is
// "varied" and nothing is "hard".
const std::vector<std::string>& mixture_names();

// Returns a random scene with random disparities, cameras and light, for training data. The distributions resemble
// those of real pairs. The window of `size` lies at a random position in a picture of size `picture`; there are at most
// `disparities` disparities. `like` is one of mixture_names(); all but "varied" use the effects of real cameras, too.
// Throws Error(call) for invalid arguments.
SceneOptions random_scene(Size size, Size picture, int disparities, std::uint64_t seed,
                          const std::string& like = "varied");

// Generates a scene. The same options give the same bytes on every machine. Throws Error(call) for invalid options.
Scene make_scene(const SceneOptions& options);

// Generates scenes in parallel, one thread per scene. The threads call `take(i, scene)` in any order.
void make_scenes(const std::vector<SceneOptions>& options, const std::function<void(int, const Scene&)>& take);

}  // namespace stereopsis
