// The meaning of masks, for those read from files, passed to the matcher, and passed to the error measures.
#pragma once

#include <cstdint>

#include "stereopsis/error.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// A pixel counts, or is usable, exactly where its mask is 255. Where the mask is 0, or 128 (Middlebury's "occluded"),
// the pixel does not count. No other value is allowed.
inline constexpr std::uint8_t mask_counts = 255, mask_occluded = 128;

// Throws an error of this category if the mask contains another value. An empty mask is allowed: all pixels count.
void check_mask(ImageView<const std::uint8_t> mask, ErrorCategory category = ErrorCategory::call);

// Throws Error(call) if the mask contains a value other than 0 and 255, because the matcher reads masks in place.
void check_mask_in_place(ImageView<const std::uint8_t> mask);

}  // namespace stereopsis
