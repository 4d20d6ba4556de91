// Rows of maps that are refined as a stripe of a larger image.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Maps of a stripe, with rows above and below it.
struct StripeMaps {
  ImageView<const float> disparity;        // in pixels; NaN where a pixel is invalid
  ImageView<const std::uint8_t> validity;  // bits of namespace validity
  int first_row = 0;                       // first row of the stripe, among the rows of the maps
  int rows = 0;                            // number of rows of the stripe
  bool at_top = false, at_bottom = false;  // true if the maps begin, or end, at the border of the image

  // Returns whether a row of the maps belongs to the stripe.
  bool has_row(int y) const { return y >= first_row && y < first_row + rows; }
};

}  // namespace stereopsis
