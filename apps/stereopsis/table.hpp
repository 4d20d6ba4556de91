// A table for people: columns as wide as their widest cell, the first to the left, the others to the right.
#pragma once

#include <string>
#include <vector>

namespace stereopsis::command {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void add_rule() { rows_.emplace_back(); }
  // These columns (0 is the first) are text and go to the left.
  Table& left(std::vector<std::size_t> columns) {
    left_ = std::move(columns);
    return *this;
  }
  std::string text() const;
  void print() const;  // to stdout

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_ = {0};
};

// "12.34"; "–" for what there is not.
std::string cell(double value, int decimals);

}  // namespace stereopsis::command
