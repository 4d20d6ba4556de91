// Disparity as a picture for people.
#pragma once

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// RGB: near is warm, far is cold (a perceptually even map), invalid pixels are dark grey. With a legend: a
// strip below the picture with the colour scale, its limits and its unit.
Image<std::uint8_t> colour_disparity(ImageView<const float> disparity, double low, double high, bool legend);

// The 1st and 99th percentile of the valid disparities, for the limits; {0, 1} where none is valid.
std::pair<double, double> display_limits(ImageView<const float> disparity);

}  // namespace stereopsis
