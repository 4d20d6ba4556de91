#include "stereopsis/mask.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace stereopsis {
namespace {

bool is_allowed(std::uint8_t value) { return value == mask_counts || value == mask_occluded || value == 0; }

bool holds_only_0_and_1(ImageView<const std::uint8_t> mask) {
  for (int y = 0; y < mask.height; ++y)
    if (std::any_of(mask.row(y), mask.row(y) + mask.width, [](std::uint8_t value) { return value > 1; })) return false;
  return true;
}

}  // namespace

void check_mask(ImageView<const std::uint8_t> mask, ErrorCategory category) {
  for (int y = 0; y < mask.height; ++y) {
    const std::uint8_t* const row = mask.row(y);
    bool rejected = false;
    for (int x = 0; x < mask.width; ++x) rejected |= !is_allowed(row[x]);  // without a branch, so it vectorises
    if (!rejected) continue;
    if (holds_only_0_and_1(mask))
      throw Error(category,
                  "the mask holds only 0 and 1, and a pixel counts where its mask is 255; multiply the mask by 255, or "
                  "in Python give an array of bool");
    const int x = static_cast<int>(std::find_if_not(row, row + mask.width, is_allowed) - row);
    throw Error(category, text("the mask is ", static_cast<int>(row[x]), " at ", x, ",", y,
                               "; it must be 255 where a pixel counts, and 0 or 128 where it does not"));
  }
}

void check_mask_in_place(ImageView<const std::uint8_t> mask) {
  check_mask(mask);
  for (int y = 0; y < mask.height; ++y) {
    const std::uint8_t* const row = mask.row(y);
    bool occluded = false;
    for (int x = 0; x < mask.width; ++x) occluded |= row[x] == mask_occluded;
    if (!occluded) continue;
    const int x = static_cast<int>(std::find(row, row + mask.width, mask_occluded) - row);
    throw Error(ErrorCategory::call, text("the mask is 128 at ", x, ",", y,
                                          "; it must be 255 where a pixel is usable and 0 elsewhere, so set it to 0"));
  }
}

}  // namespace stereopsis
