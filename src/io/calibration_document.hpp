// Calibration files in their common form, values under names, for the calibration readers.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stereopsis::io {

// The values of a file. Names are paths: the `data` of `P1` is "P1.data", the second element of a list of maps "list.1".
// A list of numbers, also a nested one, is one value.
class Document {
 public:
  // Reads YAML, XML, JSON, INI (`[section]`, `name=value`) or rows of text; the contents decide. Section names of INI
  // and the names below them are in lower case. In XML, the root contributes no name, attributes count as elements, and
  // an `id` attribute is part of its element's name. Throws Error(format).
  static Document parse(std::string_view text);

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // Returns whether there is a name that starts with `prefix` and a dot.
  bool has_below(std::string_view prefix) const;
  // Returns exactly `count` finite numbers, or throws Error(format).
  std::vector<double> numbers(std::string_view name, std::size_t count) const;
  double number(std::string_view name) const { return numbers(name, 1)[0]; }
  double number_or(std::string_view name, double fallback) const { return has(name) ? number(name) : fallback; }
  // Returns at most `most` finite numbers.
  std::vector<double> numbers_up_to(std::string_view name, std::size_t most) const;
  // Returns the text without its quotes, or an empty string if the name is absent.
  std::string word(std::string_view name) const;
  // Returns how many rows without names the file has; they are named "row 1", "row 2", …
  int rows() const { return rows_; }
  // Returns the first parts of all names, in alphabetical order.
  std::vector<std::string> top_names() const { return names_below(""); }
  // Returns the next parts of all names that start with `prefix` and a dot.
  std::vector<std::string> names_below(std::string_view prefix) const;

  // For the parsers: adds a value, or marks its name as repeated.
  struct Value {
    std::string text;
    bool repeated = false;
  };
  Value& add(std::string name, std::string_view text);
  void add_row(std::string_view text);

 private:
  std::map<std::string, Value, std::less<>> values_;
  int rows_ = 0;
};

}  // namespace stereopsis::io
