// A bitmap font for the numbers and words of legends: 5×7 pixels, plus two rows below for g and p.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "stereopsis/image.hpp"

namespace stereopsis {

using Rgb = std::array<std::uint8_t, 3>;

// Returns the size of text whose font pixels are squares of `scale` pixels.
Size text_size(std::string_view text, int scale);

// Paints digits, '.', '-', ' ' and lower-case letters with the top left corner at (x, y), and leaves the background
// unchanged. Parts outside the image and characters that the font lacks are skipped.
void draw_text(ImageView<std::uint8_t> picture, int x, int y, std::string_view text, int scale, Rgb ink);

// Paints the part of the rectangle that lies inside the image.
void fill_rect(ImageView<std::uint8_t> picture, const Rect& rect, Rgb ink);

}  // namespace stereopsis
