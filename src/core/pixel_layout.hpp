// Layout of the pixels of a part of a picture in images of each format.
#pragma once

#include <algorithm>

#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

// Returns the part of a mosaic or an NV12 image that must be read for the pixels `shown`. For NV12, the part is in
// pixels of the luma. For other formats, the part is equal to `shown`. The part begins at an even column and row, so
// that the pattern of colours does not shift.
inline Rect part_read(PixelFormat format, Size picture, const Rect& shown) {
  if (!is_bayer(format) && format != PixelFormat::nv12) return shown;
  const int around = is_bayer(format) ? 1 : 0;
  const int x = std::max(0, shown.x - around) / 2 * 2, y = std::max(0, shown.y - around) / 2 * 2;
  const auto end = [&](int last, int size) { return std::min((last + around + 1) / 2 * 2, size); };
  return {x, y, end(shown.x + shown.width, picture.width) - x, end(shown.y + shown.height, picture.height) - y};
}

}  // namespace stereopsis
