// A bitmap font for numbers and the words of legends: 5×7 pixels, two more below for g and p.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "stereopsis/image.hpp"

namespace stereopsis {

using Rgb = std::array<std::uint8_t, 3>;

// Of text whose font pixels are squares of `scale` pixels.
Size text_size(std::string_view text, int scale);

// Paints digits, '.', '-', ' ' and small letters with the top left corner at (x, y); leaves the ground as it is. What lies
// outside the picture, and characters the font does not have, are left out.
void draw_text(ImageView<std::uint8_t> picture, int x, int y, std::string_view text, int scale, Rgb ink);

// Paints the part of the rectangle that lies inside the picture.
void fill_rect(ImageView<std::uint8_t> picture, const Rect& rect, Rgb ink);

}  // namespace stereopsis
