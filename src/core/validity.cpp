#include "stereopsis/disparity.hpp"

namespace stereopsis::validity {

std::string describe(std::uint8_t bits) {
  static constexpr const char* names[] = {"no_candidate", "left_right", "ambiguous", "speckle",
                                          "masked",       "outside",    "filled",    "repaired"};
  std::string text;
  for (int bit = 0; bit < 8; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += names[bit];
  }
  return text.empty() ? "valid" : text;
}

}  // namespace stereopsis::validity
