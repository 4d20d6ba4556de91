// Lengths as users write them, with or without a unit: baselines, depths, squares of a board.
#pragma once

#include <string>

namespace stereopsis {

// A length of at least 0.
struct Length {
  double value = 0;  // the number, in `unit`
  std::string unit;  // "mm", "cm", "m" or "in", or "" for a number without a unit

  // Returns the length in `to`, the unit of a rig ("mm", "m", or "" if unknown). A number without a unit is in that unit.
  // Throws Error(call) if the length has a unit and `to` is unknown.
  double in(const std::string& to) const;
  // Returns the length in a unit that a rig can have: m and no unit stay, and other units are converted to mm.
  Length as_of_rig() const;
  // Returns the length as it was written, such as "12cm".
  std::string text() const;
};

// Parses "120mm", "12 cm", "0.12m", "4.7in" or "0.12". Throws Error(call), with a sentence that begins with the text.
Length parse_length(const std::string& text);

}  // namespace stereopsis
