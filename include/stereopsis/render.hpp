// Disparity as a picture for people.
#pragma once

#include <utility>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// RGB: far is cold and dark, near is warm and bright, evenly to the eye from `low` to `high` (pixels; what lies beyond
// has the colour of the limit); invalid pixels are dark grey. With a legend: a strip below the picture with the colour
// scale, round numbers, the limits and the unit; a picture that is narrower than the 160 pixels this needs gets a
// margin on the right. Throws Error(call) unless low < high, both within ±1 000 000.
Image<std::uint8_t> colour_disparity(ImageView<const float> disparity, double low, double high, bool legend);

// The 1st and 99th percentile of the valid disparities, for the limits, widened about their middle to 1 pixel where
// they are closer; {0, 1} where none is valid.
std::pair<double, double> display_limits(ImageView<const float> disparity);

// RGB: a colour for what a pixel is: measured, filled, repaired, or invalid for the first of its reasons. With a legend: a strip
// below the picture.
Image<std::uint8_t> colour_validity(ImageView<const std::uint8_t> validity, bool legend);

}  // namespace stereopsis
