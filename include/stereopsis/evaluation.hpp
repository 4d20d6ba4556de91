// Disparity maps against ground truth, as the Middlebury and KITTI toolkits define it.
#pragma once

#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Percentages are 0 to 100. Over all counted pixels, where an invalid pixel counts as an error in bad*,
// d1 and out3; avgerr, rms and the quantiles are over valid pixels only. A pixel is invalid where its disparity is
// not finite. A figure over no pixels at all is NaN. Errors are compared in double.
struct Measures {
  double bad05 = 0, bad10 = 0, bad20 = 0, bad40 = 0;  // error > 0.5, 1, 2, 4 px
  double d1 = 0;                                      // error > 3 px and > 5 % (KITTI 2015)
  double out3 = 0;                                    // error > 3 px (KITTI 2012)
  double avgerr = 0, rms = 0;                         // pixels
  double a90 = 0, a95 = 0, a99 = 0;                   // pixels: the smallest error that this share does not exceed
  double density = 0;                                 // share of counted pixels that are valid
  long long counted = 0;                              // pixels
};

// The same measures over two sets of pixels.
struct Evaluation {
  Measures all;    // every counted pixel
  Measures valid;  // counted pixels with a disparity
};

// Counts the pixels where `truth` is finite and `mask`, unless it is empty, is 255. Throws Error(call) when sizes differ,
// an image is empty, or the mask holds a value that mask.hpp does not allow.
Evaluation evaluate(ImageView<const float> disparity, ImageView<const float> truth,
                    ImageView<const std::uint8_t> mask = {});

// Share of counted pixels whose error is above `threshold`, invalid ones included.
double bad_pixels(ImageView<const float> disparity, ImageView<const float> truth, ImageView<const std::uint8_t> mask,
                  double threshold);

// How well a confidence sorts right from wrong (Hu and Mordohai 2012, section 5): the counted pixels are thrown away, the least
// confident first, and what is left is scored. Pixels of equal confidence go in no order: each counts as their mean.
struct Sparsification {
  std::vector<double> curve;    // share of errors, in percent, where i percent are thrown away, i = 0 … 99
  std::vector<double> optimum;  // the same where all errors go first
  double auc = 0;               // mean of the curve over all shares, in percent
  double auc_optimum = 0;       // likewise of the optimum
};

// An error is a disparity that is invalid or off by more than `threshold`. A confidence that is not finite is the lowest.
// Counts what evaluate() counts; throws Error(call) when sizes differ, an image is empty or no pixel counts.
Sparsification sparsification(ImageView<const float> disparity, ImageView<const float> confidence,
                              ImageView<const float> truth, ImageView<const std::uint8_t> mask, double threshold);

// The curve, the optimum, and the flat line of a confidence that knows nothing, as a picture.
std::string to_svg(const Sparsification&);

// 255 where both truths are known and agree: |d_left(x) − d_right(x − d_left)| ≤ 1, where d_left is rounded to the
// nearest pixel, halves up, to look d_right up; 0 elsewhere.
Image<std::uint8_t> nonoccluded(ImageView<const float> truth_left, ImageView<const float> truth_right);

// RGB. White where the error is 0 to grey at `threshold`; orange just above it to dark red at 8 × `threshold` and
// beyond, evenly in log(error); blue where the disparity is invalid; black where the truth is unknown. Pixels that
// `mask` leaves out have the same colours at a third of the brightness. With a legend: a strip below the picture.
Image<std::uint8_t> error_image(ImageView<const float> disparity, ImageView<const float> truth,
                                ImageView<const std::uint8_t> mask, double threshold, bool legend = false);

}  // namespace stereopsis
