// A legend of named colours below a picture.
#pragma once

#include <string>
#include <vector>

#include "evaluation/font.hpp"

namespace stereopsis {

struct NamedColour {
  Rgb colour;
  std::string name;  // of characters that the font has
};

// The picture with a strip below it, of as many lines as the names need; a narrow picture gets a margin on the right.
Image<std::uint8_t> with_legend(const Image<std::uint8_t>& picture, const std::vector<NamedColour>& names);

}  // namespace stereopsis
