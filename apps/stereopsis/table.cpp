#include "table.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace stereopsis::command {
namespace {

// Counts characters, not bytes.
std::size_t width_of(const std::string& s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;

  std::string out;
  const auto rule = [&] {
    for (std::size_t i = 0; i < total; ++i) out += "─";
    out += '\n';
  };
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].empty()) {
      rule();
      continue;
    }
    std::string line;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      const std::string padding(widths[i] - width_of(rows_[r][i]), ' ');
      const bool to_left = std::find(left_.begin(), left_.end(), i) != left_.end();
      if (i > 0) line += "  ";
      line += to_left ? rows_[r][i] + padding : padding + rows_[r][i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
    if (r == 0) rule();
  }
  return out;
}

void Table::print() const { say("{}", text()); }

std::string cell(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "–";
}

}  // namespace stereopsis::command
