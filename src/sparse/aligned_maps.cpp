// Adds the alignment of rows to the maps of a rectification.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stereopsis/rows.hpp"

namespace stereopsis {
namespace {

constexpr int positions = 256;  // per pixel, of a map and between the rows of a map

// Returns whether a position has a source in an image of this length.
bool has_source(std::int32_t position, int length) {
  return position >= 0 && position <= std::int64_t{positions} * (length - 1);
}

// Returns the value of a map between two rows, or beyond them.
std::int32_t between(std::int64_t upper, std::int64_t lower, std::int64_t part) {
  constexpr std::int64_t none = std::numeric_limits<std::int32_t>::min(), largest = std::int64_t{1} << 30;
  if (upper == none || lower == none) return static_cast<std::int32_t>(none);
  const std::int64_t value = (upper * (positions - part) + lower * part + positions / 2) >> 8;
  return static_cast<std::int32_t>(std::abs(value) <= largest ? value : none);
}

}  // namespace

RectificationMaps aligned_maps(const RectificationMaps& maps, const RowAlignment& alignment) {
  RectificationMaps out = maps;
  const Image<std::int32_t>& given = maps.right;
  const Size size = given.size();
  out.right_complete = true;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto row = static_cast<std::int64_t>(std::floor(positions * (y + alignment.at(x, y, size)) + 0.5));
      const int upper = static_cast<int>(std::clamp<std::int64_t>(row >> 8, 0, std::max(size.height - 2, 0)));
      const int lower = std::min(upper + 1, size.height - 1);
      for (const int c : {0, 1}) {
        out.right(x, y, c) = between(given(x, upper, c), given(x, lower, c), row - std::int64_t{positions} * upper);
        out.right_complete &= has_source(out.right(x, y, c), c == 0 ? maps.input.width : maps.input.height);
      }
    }
  return out;
}

}  // namespace stereopsis
