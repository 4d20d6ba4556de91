// Rows of maps that are refined as a stripe of a larger image.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"

namespace stereopsis {

struct StripeMaps {
  ImageView<const float> disparity;
  ImageView<const std::uint8_t> validity;
  int first_row = 0;                       // first row of the stripe, among the rows of the maps
  int rows = 0;                            // number of rows of the stripe
  bool at_top = false, at_bottom = false;  // true if the maps begin, or end, at the border of the image

  bool has_row(int y) const { return y >= first_row && y < first_row + rows; }
};

}  // namespace stereopsis
