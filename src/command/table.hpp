// A table for people: each column is as wide as its widest cell, unless the table is too wide for the terminal; the
// first is aligned left, the others right.
#pragma once

#include <string>
#include <vector>

namespace stereopsis::command {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void add_rule() { rows_.emplace_back(); }
  // Aligns these columns (0 is the first) left, because they are text.
  Table& left(std::vector<std::size_t> columns) {
    left_ = std::move(columns);
    return *this;
  }
  std::string text() const;
  void print() const;  // to stdout

 private:
  std::vector<std::size_t> widths() const;
  std::vector<std::string> lines_of(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const;

  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_ = {0};
};

// Returns "12.34", or "–" for a missing value.
std::string cell(double value, int decimals);

}  // namespace stereopsis::command
