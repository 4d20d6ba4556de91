#include "command/layout.hpp"

#include <algorithm>
#include <sstream>

#include "command/terminal.hpp"

namespace stereopsis::command {
namespace {

constexpr std::size_t indent = 2, gap = 2, least_text = 24;

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && columns_of(lines.back()) + 1 + columns_of(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string paragraph(std::string_view text) {
  std::string out;
  for (const std::string& line : wrapped(text, text_width())) out += line + '\n';
  return out;
}

std::string listing(const std::string& heading, const std::vector<ListEntry>& entries, std::size_t column) {
  std::string out;
  if (!heading.empty())
    for (const std::string& line : wrapped(heading + ":", text_width())) out += styled(Style::heading, line) + '\n';
  const std::size_t width = std::max(text_width(), column + least_text) - column;
  for (const auto& [name, text] : entries) {
    std::string line = std::string(indent, ' ') + styled(Style::name, name);
    std::size_t end = indent + columns_of(name);
    for (const std::string& part : wrapped(text, width)) {
      if (end + gap > column && !part.empty()) {
        out += line + '\n';
        line.clear();
        end = 0;
      }
      if (!part.empty()) line += std::string(column - end, ' ') + part;
      end = column;
    }
    out += line + '\n';
  }
  return out;
}

std::size_t column_for(const std::vector<ListEntry>& entries) {
  std::size_t widest = 0;
  for (const ListEntry& entry : entries) widest = std::max(widest, columns_of(entry.name));
  return indent + widest + gap;
}

}  // namespace stereopsis::command
