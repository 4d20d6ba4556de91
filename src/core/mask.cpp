#include "stereopsis/mask.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace stereopsis {
namespace {

bool holds_only_0_and_1(ImageView<const std::uint8_t> mask) {
  for (int y = 0; y < mask.height; ++y)
    if (std::any_of(mask.row(y), mask.row(y) + mask.width, [](std::uint8_t value) { return value > 1; })) return false;
  return true;
}

// Throws an error of the given category if the mask contains a value other than 255, 0 and `other`.
void check_values(ImageView<const std::uint8_t> mask, std::uint8_t other, ErrorCategory category, const char* allowed) {
  const auto is_allowed = [other](std::uint8_t value) { return value == mask_counts || value == 0 || value == other; };
  for (int y = 0; y < mask.height; ++y) {
    const std::uint8_t* const row = mask.row(y);
    bool rejected = false;
    for (int x = 0; x < mask.width; ++x) rejected |= !is_allowed(row[x]);  // no branch, so that the loop vectorises
    if (!rejected) continue;
    if (holds_only_0_and_1(mask))
      throw Error(category,
                  "the mask has only the values 0 and 1, but usable pixels are marked with 255; multiply the mask by "
                  "255, or in Python pass an array of bool");
    const int x = static_cast<int>(std::find_if_not(row, row + mask.width, is_allowed) - row);
    throw Error(category, text("the mask is ", static_cast<int>(row[x]), " at ", x, ",", y, "; it must be ", allowed));
  }
}

}  // namespace

void check_mask(ImageView<const std::uint8_t> mask, ErrorCategory category) {
  check_values(mask, mask_occluded, category, "255 for pixels that count, and 0 or 128 for others");
}

void check_mask_in_place(ImageView<const std::uint8_t> mask) {
  check_values(mask, 0, ErrorCategory::call, "255 for usable pixels and 0 for others, so set other values to 0 or 255");
}

}  // namespace stereopsis
