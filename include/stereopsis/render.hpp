// Renders disparity and validity maps as images for people.
#pragma once

#include <utility>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Returns an RGB image from cold and dark (far) to warm and bright (near), perceptually uniform from `low` to `high`
// (pixels). Disparities beyond a limit have its colour; invalid pixels are dark grey. With a legend, a strip below the
// image shows the colour scale, round numbers, the limits and the unit; an image that is narrower than the required 160
// pixels gets a margin on the right. Throws Error(call) unless low < high, both within ±1 000 000.
Image<std::uint8_t> colour_disparity(ImageView<const float> disparity, double low, double high, bool legend);

// Returns the 1st and 99th percentile of the valid disparities as limits, widened about their middle to a distance of
// at least 1 pixel; {0, 1} if no pixel is valid.
std::pair<double, double> display_limits(ImageView<const float> disparity);

// Returns an RGB image of pixel states: measured, filled, repaired, or invalid for the first of its reasons. With a
// legend, a strip is added below the image.
Image<std::uint8_t> colour_validity(ImageView<const std::uint8_t> validity, bool legend);

}  // namespace stereopsis
