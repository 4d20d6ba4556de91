// The common form of calibration files, values under names, which the calibration readers use.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stereopsis::io {

// The values of a file. Names are paths: the element `data` of `P1` is "P1.data", and the second element of a list of
// maps is "list.1". A list of numbers, nested or not, is one value.
class Document {
 public:
  // Parses YAML, XML, JSON, INI (`[section]`, `name=value`) or rows of text; the notation is detected from the
  // contents. Names of INI sections, and the names in them, are converted to lower case. In XML, the root contributes
  // no name, attributes are treated as elements, and an `id` attribute is a part of its element's name. Throws
  // Error(format) for a text in none of these notations.
  static Document parse(std::string_view text);

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // Returns whether there is a name that starts with `prefix` and a dot.
  bool has_below(std::string_view prefix) const;
  // Returns exactly `count` finite numbers. Throws Error(format) otherwise.
  std::vector<double> numbers(std::string_view name, std::size_t count) const;
  double number(std::string_view name) const { return numbers(name, 1)[0]; }
  double number_or(std::string_view name, double fallback) const { return has(name) ? number(name) : fallback; }
  // Returns at most `most` finite numbers.
  std::vector<double> numbers_up_to(std::string_view name, std::size_t most) const;
  // Returns the text without quotes, or an empty string if the name is absent.
  std::string word(std::string_view name) const;
  // Returns the number of rows without names in the file, which are named "row 1", "row 2", …
  int rows() const { return rows_; }
  // Returns the first parts of all names, in alphabetical order.
  std::vector<std::string> top_names() const { return names_below(""); }
  // Returns the next parts of all names that start with `prefix` and a dot.
  std::vector<std::string> names_below(std::string_view prefix) const;

  // Functions for the parsers, which add a value or mark its name as repeated.
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
