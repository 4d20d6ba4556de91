// The meaning of masks that are read from files, passed to the matcher, or passed to the error measures.
#pragma once

#include <cstdint>

#include "stereopsis/error.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// A pixel counts, or is usable, if and only if its mask is 255. A pixel with the mask 0, or 128 (Middlebury's
// "occluded"), does not count. No other value is allowed.
inline constexpr std::uint8_t mask_counts = 255, mask_occluded = 128;

// Throws an Error of the given category if the mask contains another value. An empty mask is allowed, and means that
// all pixels count.
void check_mask(ImageView<const std::uint8_t> mask, ErrorCategory category = ErrorCategory::call);

// Throws Error(call) if the mask contains a value other than 0 and 255, because the matcher reads masks in place.
void check_mask_in_place(ImageView<const std::uint8_t> mask);

}  // namespace stereopsis
