// Sentences for errors, and numbers read strictly.
#pragma once

#include <charconv>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace stereopsis {

// The arguments one after the other, as `<<` prints them.
template <class... Args>
std::string text(const Args&... args) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // whatever the program's is: files have this, too
  (out << ... << args);
  return out.str();
}

// The whole of `s` as a number, or nothing.
template <class T>
std::optional<T> parse_number(std::string_view s) {
  T value{};
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

// The shortest text that reads back as the same number.
std::string number_text(double value);

std::vector<std::string> split(std::string_view s, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The candidate with the smallest edit distance to `name`; empty where there are none.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stereopsis
