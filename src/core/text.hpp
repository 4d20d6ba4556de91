// Text for error messages, and strict parsing of numbers.
#pragma once

#include <charconv>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace stereopsis {

// Concatenates the arguments, formatted as by operator<<.
template <class... Args>
std::string text(const Args&... args) {
  std::ostringstream out;
  // Independent of the locale of the program, because files are also written with this function.
  out.imbue(std::locale::classic());
  (out << ... << args);
  return out.str();
}

// Parses a decimal number as std::from_chars does, for a standard library whose from_chars reads integers only, such as
// that of LLVM before release 20. An input stream also rounds to the nearest number.
template <class T>
std::optional<T> parse_decimal(std::string_view s) {
  if (s == "inf" || s == "-inf")
    return s.front() == '-' ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  if (s == "nan" || s == "-nan") return std::numeric_limits<T>::quiet_NaN();
  if (s.starts_with('+') || s.find_first_not_of("0123456789.eE+-") != s.npos) return std::nullopt;
  std::istringstream in{std::string(s)};
  in.imbue(std::locale::classic());
  T value{};
  if (!(in >> value) || in.peek() != std::char_traits<char>::eof()) return std::nullopt;
  return value;
}

// Parses the whole of `s` as a number. Returns nothing if `s` is not a number.
template <class T>
std::optional<T> parse_number(std::string_view s) {
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  T value{};
  if constexpr (requires { std::from_chars(s.data(), s.data(), value); }) {
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
    return value;
  } else {
    return parse_decimal<T>(s);
  }
}

// Returns the shortest text that reads back as the same number.
std::string number_text(double value);

std::vector<std::string> split(std::string_view s, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Returns the candidate with the smallest edit distance to `name`, or an empty string if there are no candidates.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stereopsis
