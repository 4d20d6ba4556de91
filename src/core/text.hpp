// Text for error messages, and strict parsing of numbers.
#pragma once

#include <charconv>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace stereopsis {

// Concatenates the arguments as `<<` prints them.
template <class... Args>
std::string text(const Args&... args) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // independent of the program's locale, because files are written with it, too
  (out << ... << args);
  return out.str();
}

// Parses the whole of `s` as a number; returns nothing if that fails.
template <class T>
std::optional<T> parse_number(std::string_view s) {
  T value{};
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

// Returns the shortest text that reads back as the same number.
std::string number_text(double value);

std::vector<std::string> split(std::string_view s, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Returns the candidate with the smallest edit distance to `name`, or an empty string if there are no candidates.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stereopsis
