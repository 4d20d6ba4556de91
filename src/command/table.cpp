#include "command/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "command/layout.hpp"
#include "command/terminal.hpp"

namespace stereopsis::command {
namespace {

constexpr std::size_t gap = 2, least_wrapped = 16;  // columns

std::string padded(const std::string& text, std::size_t width, bool to_left) {
  const std::string padding(width - columns_of(text), ' ');
  return to_left ? text + padding : padding + text;
}

}  // namespace

// Returns the widths of the columns. Where the table is too wide for the terminal, its widest column of text is
// wrapped.
std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  const std::size_t total =
      std::accumulate(widths.begin(), widths.end(), gap * (std::max<std::size_t>(widths.size(), 1) - 1));
  if (!has_width() || total <= text_width() || left_.empty()) return widths;
  std::size_t& widest = widths[*std::ranges::max_element(left_, {}, [&](std::size_t i) { return widths[i]; })];
  const std::size_t others = total - widest;
  widest = std::min(widest, std::max(text_width() > others ? text_width() - others : 0, least_wrapped));
  return widths;
}

std::string Table::text() const {
  const std::vector<std::size_t> widths = this->widths();
  std::string rule;
  for (std::size_t i = 0; i < std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1)); ++i)
    rule += "─";
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].empty()) {
      out += rule + '\n';
      continue;
    }
    for (const std::string& line : lines_of(rows_[r], widths))
      out += styled(r == 0 ? Style::heading : Style::plain, line) + '\n';
    if (r == 0) out += rule + '\n';
  }
  return out;
}

std::vector<std::string> Table::lines_of(const std::vector<std::string>& row,
                                         const std::vector<std::size_t>& widths) const {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    cells.push_back(columns_of(row[i]) > widths[i] ? wrapped(row[i], widths[i]) : std::vector{row[i]});
    height = std::max(height, cells.back().size());
  }
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < height; ++k) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string text = k < cells[i].size() ? cells[i][k] : "";
      const std::size_t width = std::max(widths[i], columns_of(text));  // a word may be too long
      line += (i > 0 ? std::string(gap, ' ') : "") + padded(text, width, std::ranges::find(left_, i) != left_.end());
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

void Table::print() const { write_styled(text()); }

std::string cell(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "–";
}

}  // namespace stereopsis::command
