#include "core/printable.hpp"

#include <cstdint>

namespace stereopsis {
namespace {

// The character that starts at `i` and its length in bytes; 0 if none starts there.
struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

Character character_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(text[k]); };
  const std::uint32_t first = byte(i);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || i + length > text.size()) return {};
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i + k) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[length] || surrogate || code > 0x10FFFF ? Character{} : Character{code, length};
}

bool is_shown(std::uint32_t code) {
  if (code == '\n') return true;
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return !turns && code != 0x2028 && code != 0x2029;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    const std::size_t length = character.length > 0 ? character.length : 1;
    if (character.length > 0 && is_shown(character.code))
      shown += text.substr(i, length);
    else
      for (const char c : text.substr(i, length))
        (shown += "\\x") += {digits[static_cast<std::uint8_t>(c) / 16], digits[static_cast<std::uint8_t>(c) % 16]};
    i += length;
  }
  return shown;
}

}  // namespace stereopsis
