// Adds a legend of named colours below an image.
#pragma once

#include <string>
#include <vector>

#include "evaluation/font.hpp"

namespace stereopsis {

struct NamedColour {
  Rgb colour;
  std::string name;  // name that consists of characters of the font
};

// Returns the image with a strip of colours and names below it. The strip has as many lines as the names need. A narrow
// image also gets a margin on the right.
Image<std::uint8_t> with_legend(const Image<std::uint8_t>& picture, const std::vector<NamedColour>& names);

}  // namespace stereopsis
