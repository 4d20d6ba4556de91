// Evaluates disparity maps against ground truth, by the definitions of the Middlebury and KITTI toolkits.
#pragma once

#include <string>
#include <vector>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Error measures of a disparity map. Percentages are 0 to 100. The measures bad*, d1 and out3 are over all counted
// pixels, and an invalid pixel counts as an error. The measures avgerr, rms and the quantiles are over valid pixels
// only. A pixel is invalid if its disparity is not finite. A measure over no pixels is NaN. Errors are compared in
// double precision.
struct Measures {
  double bad05 = 0, bad10 = 0, bad20 = 0, bad40 = 0;  // error > 0.5, 1, 2, 4 px
  double d1 = 0;                                      // error > 3 px and > 5 % (KITTI 2015)
  double out3 = 0;                                    // error > 3 px (KITTI 2012)
  double avgerr = 0, rms = 0;                         // pixels
  // Smallest error, in pixels, that 90, 95 or 99 % of the pixels do not exceed.
  double a90 = 0, a95 = 0, a99 = 0;
  double density = 0;     // percentage of counted pixels that are valid
  long long counted = 0;  // pixels
};

// The same measures over two sets of pixels.
struct Evaluation {
  Measures all;    // every counted pixel
  Measures valid;  // counted pixels with a disparity
};

// Evaluates the pixels where `truth` is finite and `mask` is 255. An empty mask includes all pixels. Throws Error(call)
// if sizes differ, an image is empty, or the mask contains a value that mask.hpp does not allow. Throws Error(call) if
// a counted value is finite and beyond ±1e6.
Evaluation evaluate(ImageView<const float> disparity, ImageView<const float> truth,
                    ImageView<const std::uint8_t> mask = {});

// The likely reason why a disparity map and its ground truth differ nearly everywhere. If there is no such reason, no
// field is set.
struct Mismatch {
  double factor = 1;            // ratio truth / disparity, such as 4, or −1 for the opposite sign
  bool upside_down = false;     // true if the rows of the truth are in reverse order
  bool reversed_bytes = false;  // true if the numbers of the truth have reversed bytes
  bool zeros_unknown = false;   // true if the truth is 0 at unknown pixels
  // Median of truth × disparity if this product is nearly constant, because one of the maps is a depth map; else 0.
  double product = 0;
};

// Looks for the reason why a disparity map and its ground truth differ. `code_scale` is the scale of a truth that was
// stored as 16-bit integers, or 0 for a truth of floats. Throws Error(call) as evaluate() does.
Mismatch find_mismatch(ImageView<const float> disparity, ImageView<const float> truth,
                       ImageView<const std::uint8_t> mask = {}, double code_scale = 0);

// Return the truth with the correction that find_mismatch() tries.
Image<float> with_reversed_bytes(ImageView<const float> truth, double code_scale = 0);
Image<float> upside_down(ImageView<const float> map);

// Largest disparity that evaluate() accepts, pixels.
inline constexpr double largest_disparity = 1e6;

// Returns the percentage of counted pixels whose error is above `threshold`. Invalid pixels count as errors.
double bad_pixels(ImageView<const float> disparity, ImageView<const float> truth, ImageView<const std::uint8_t> mask,
                  double threshold);

// Measures how well a confidence separates correct from wrong disparities (Hu and Mordohai 2012, section 5). The
// counted pixels are removed in the order of their confidence, the least confident first, and the remaining pixels are
// scored. Pixels of equal confidence have no order, so the mean over all their orders is used.
struct Sparsification {
  std::vector<double> curve;    // percentage of wrong pixels after removing i percent of the pixels, i = 0 … 99
  std::vector<double> optimum;  // the curve of an ideal confidence, which removes all wrong pixels first
  double auc = 0;               // mean of the curve, in percent
  double auc_optimum = 0;       // mean of the optimum, in percent
};

// Computes the sparsification. A pixel is wrong if its disparity is invalid or off by more than `threshold`. A
// confidence that is not finite is treated as the lowest one. The function counts the same pixels as evaluate(). Throws
// Error(call) if sizes differ, an image is empty, or no pixel counts.
Sparsification sparsification(ImageView<const float> disparity, ImageView<const float> confidence,
                              ImageView<const float> truth, ImageView<const std::uint8_t> mask, double threshold);

// Returns an SVG image with the curve, the optimum, and the flat line of an uninformative confidence.
std::string to_svg(const Sparsification&);

// Returns 255 where both truths are known and agree: |d_left(x) − d_right(x − d_left)| ≤ 1. For the look-up in d_right,
// d_left is rounded to the nearest pixel, halves up. Returns 0 elsewhere.
Image<std::uint8_t> nonoccluded(ImageView<const float> truth_left, ImageView<const float> truth_right);

// Returns an RGB image of the errors. Errors up to `threshold` are white to grey, and larger errors are orange to dark
// red (at 8 × `threshold` and beyond), linear in log(error). Invalid disparities are blue, and pixels with unknown
// truth are black. Pixels that `mask` excludes have the same colours at a third of their brightness. With `legend`, a
// strip with the colour scale is added below the image.
Image<std::uint8_t> error_image(ImageView<const float> disparity, ImageView<const float> truth,
                                ImageView<const std::uint8_t> mask, double threshold, bool legend = false);

}  // namespace stereopsis
