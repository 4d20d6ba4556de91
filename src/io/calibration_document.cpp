#include "io/calibration_document.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "io/calibration_parsers.hpp"
#include "io/file.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

// Calls f with each part between white space, commas and semicolons.
template <class F>
void for_each_part(std::string_view s, F&& f) {
  constexpr std::string_view separators = " \t\r\n\v\f,;";
  while (true) {
    s.remove_prefix(std::min(s.find_first_not_of(separators), s.size()));
    if (s.empty()) return;
    const std::string_view part = s.substr(0, s.find_first_of(separators));
    f(part);
    s.remove_prefix(part.size());
  }
}

}  // namespace

Document::Value& Document::add(std::string name, std::string_view text) {
  const auto [entry, is_new] = values_.try_emplace(std::move(name), Value{std::string(text)});
  if (!is_new) entry->second.repeated = true;
  return entry->second;
}

void Document::add_row(std::string_view text) { add(stereopsis::text("row ", ++rows_), text); }

bool Document::has_below(std::string_view prefix) const {
  const std::string start = text(prefix, '.');
  const auto first = values_.lower_bound(start);
  return first != values_.end() && first->first.starts_with(start);
}

std::vector<std::string> Document::names_below(std::string_view prefix) const {
  const std::string start = prefix.empty() ? "" : text(prefix, '.');
  std::vector<std::string> names;
  for (auto entry = values_.lower_bound(start); entry != values_.end() && entry->first.starts_with(start); ++entry) {
    std::string name = entry->first.substr(start.size());
    name.resize(std::min(name.find('.'), name.size()));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

std::vector<double> Document::numbers_up_to(std::string_view name, std::size_t most) const {
  const auto entry = values_.find(name);
  if (entry == values_.end())
    refuse(text("there is no ", name, " in the file; the file is cut off, or has another format"));
  if (entry->second.repeated) refuse(text(name, " is in the file more than once; keep one of them"));
  std::vector<double> numbers;
  std::size_t found = 0;
  for_each_part(entry->second.text, [&](std::string_view part) {
    if (++found > most) return;
    const auto number = parse_number<double>(part);
    if (!number || !std::isfinite(*number))
      refuse(text(name, " holds '", Tokens::printable(part), "', which is not a finite number"));
    numbers.push_back(*number);
  });
  if (found > most) refuse(text(name, " holds ", found, " values; it may have at most ", most));
  return numbers;
}

std::vector<double> Document::numbers(std::string_view name, std::size_t count) const {
  const std::vector<double> numbers = numbers_up_to(name, std::max(count, std::size_t{1} << 20));
  if (const std::size_t held = numbers.size(); held != count)
    refuse(text(name, " holds ", held, held == 1 ? " value" : " values", "; it must have ", count));
  return numbers;
}

std::string Document::word(std::string_view name) const {
  const auto entry = values_.find(name);
  if (entry == values_.end()) return {};
  const std::string& text = entry->second.text;
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;  // values in OpenCV's XML have quotes
}

Document Document::parse(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (trimmed(text).empty()) refuse("the file is empty; give a calibration file");
  Document document;
  parser_of(text)(text, document);
  return document;
}

}  // namespace stereopsis::io
