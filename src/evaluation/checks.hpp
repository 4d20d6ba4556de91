// Argument checks shared by all functions on disparity maps.
#pragma once

#include <cmath>
#include <string_view>

#include "core/text.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/mask.hpp"

namespace stereopsis {

template <class T>
void check_plane(std::string_view name, ImageView<T> image) {
  if (image.empty() || image.channels != 1)
    throw Error(ErrorCategory::call,
                text("the ", name, " image is ", image.width, "×", image.height, " with ", image.channels,
                     " channels; it must have one channel and at least one pixel"));
}

template <class T>
void check_plane(std::string_view name, ImageView<T> image, Size size) {
  check_plane(name, image);
  if (image.size() != size)
    throw Error(ErrorCategory::call, text("the ", name, " image is ", image.width, "×", image.height, ", not ",
                                          size.width, "×", size.height, "; both images must have the same size"));
}

// Checks a mask for a map of this size. An empty mask is allowed.
inline void check_mask_of(Size size, ImageView<const std::uint8_t> mask) {
  if (mask.empty()) return;
  check_plane("mask", mask, size);
  check_mask(mask);
}

inline bool counts(ImageView<const std::uint8_t> mask, int x, int y) {
  return mask.empty() || mask(x, y) == mask_counts;
}

inline void check_threshold(double threshold) {
  if (!(threshold >= 0) || !std::isfinite(threshold))
    throw Error(ErrorCategory::call, text("an error threshold of ", number_text(threshold),
                                          " px is not allowed; it must be a finite number of at least 0"));
}

}  // namespace stereopsis
