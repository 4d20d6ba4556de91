// Renders maps of disparity, depth and validity as colour images.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// The 256 colours of a colour map, from low values to high ones, as 0xRRGGBB.
using ColorMap = std::array<std::uint32_t, 256>;

// Returns the names of the colour maps for disparity and depth. The first is the default, `sunset`: it is perceptually
// uniform, and its lightness rises, so that it remains readable in grey.
std::vector<std::string> color_map_names();

// Returns a colour map of color_map_names(), or one of the maps `difference` (around 0) and `error` (from 0 upwards).
// Throws Error(call) for another name.
const ColorMap& color_map(std::string_view name);

// Options of colour_values().
struct Coloring {
  double low = 0, high = 1;  // values at the ends of the colours; low < high, both within ±1 000 000
  std::string map = {};      // name of the colour map, as in color_map_names(); empty: the default
  bool legend = true;        // adds a strip with the colours, round numbers, the limits and the unit
  std::string unit = "px";   // unit of the values, for the legend
  bool near_is_low = false;  // true for depth: low values are near, and have the warm colours
  ImageView<const std::uint8_t> validity = {};  // if set, filled and repaired pixels are desaturated and hatched
};

// Returns an RGB image with colours from cold and dark (far) to warm and bright (near). Values beyond a limit have the
// colour of the limit. Pixels without a finite value are dark grey. An image narrower than 160 pixels with a legend
// gets a margin on the right. Throws Error(call) for limits that are not allowed, an unknown map, and a validity of
// another size.
Image<std::uint8_t> colour_values(ImageView<const float> values, const Coloring& coloring);

// Returns colour_values() of a disparity map with the default colour map, `low` and `high` in pixels.
Image<std::uint8_t> colour_disparity(ImageView<const float> disparity, double low, double high, bool legend);

// Returns the 1st and 99th percentile of the valid disparities as limits, which are at least 1 pixel apart. Returns {0,
// 1} if no pixel is valid.
std::pair<double, double> display_limits(ImageView<const float> disparity);
// Returns the same percentiles of values in another unit, which are at least `least` apart.
std::pair<double, double> display_limits(ImageView<const float> values, double least);

// Returns an RGB image of pixel states: measured, filled, repaired, or invalid. The colour of an invalid pixel shows
// the first of its reasons. With `legend`, a strip with the colours is added below the image.
Image<std::uint8_t> colour_validity(ImageView<const std::uint8_t> validity, bool legend);

}  // namespace stereopsis
