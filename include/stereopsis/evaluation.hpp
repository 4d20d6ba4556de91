// Disparity maps against ground truth, as the Middlebury and KITTI toolkits define it.
#pragma once

#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Percentages are 0 to 100. Over all counted pixels, where an invalid pixel counts as an error in bad*,
// d1 and out3; avgerr, rms and the quantiles are over valid pixels only.
struct Measures {
  double bad05 = 0, bad10 = 0, bad20 = 0, bad40 = 0;  // error > 0.5, 1, 2, 4 px
  double d1 = 0;                                      // error > 3 px and > 5 % (KITTI 2015)
  double out3 = 0;                                    // error > 3 px (KITTI 2012)
  double avgerr = 0, rms = 0;                         // pixels
  double a90 = 0, a95 = 0, a99 = 0;                   // pixels: this share of the errors is at most so large
  double density = 0;                                 // share of counted pixels that are valid
  long long counted = 0;                              // pixels
};

struct Evaluation {
  Measures all;    // every counted pixel
  Measures valid;  // counted pixels with a disparity
};

// Counts the pixels where `truth` is finite and `mask`, unless it is empty, is not 0. Throws Error(call)
// when sizes differ.
Evaluation evaluate(ImageView<const float> disparity, ImageView<const float> truth,
                    ImageView<const std::uint8_t> mask = {});

// Share of counted pixels whose error is above `threshold`, invalid ones included.
double bad_pixels(ImageView<const float> disparity, ImageView<const float> truth, ImageView<const std::uint8_t> mask,
                  double threshold);

// 255 where both truths are known and agree: |d_left(x) − d_right(x − d_left)| ≤ 1; 0 elsewhere.
Image<std::uint8_t> nonoccluded(ImageView<const float> truth_left, ImageView<const float> truth_right);

// RGB. Grey scale: error from 0 (white) to `threshold` (black outline of bad ones in red), invalid blue,
// unknown truth black. The header of the implementation states the palette.
Image<std::uint8_t> error_image(ImageView<const float> disparity, ImageView<const float> truth,
                                ImageView<const std::uint8_t> mask, double threshold);

}  // namespace stereopsis
