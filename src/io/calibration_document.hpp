// Calibration files in their common form, values under names, for the calibration readers.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stereopsis::io {

// A view of the text of a file, which must outlive the view. Names are paths: the `data` of `P1` is "P1.data".
class Document {
 public:
  // XML as OpenCV writes it, or lines of
  //   name: value    name=value    name: [ values, over, lines ]    name: !!tag
  // where a line without a value names the deeper indented lines (or the `- item` lines) below it. That is the
  // YAML of OpenCV and ROS, and the text files of Middlebury and KITTI. Throws Error(format).
  static Document parse(std::string_view text);

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // Returns exactly `count` finite numbers, or throws Error(format).
  std::vector<double> numbers(std::string_view name, std::size_t count) const;
  double number(std::string_view name) const { return numbers(name, 1)[0]; }
  // Returns at most `most` finite numbers.
  std::vector<double> numbers_up_to(std::string_view name, std::size_t most) const;
  // Returns the text without its quotes, or an empty string if the name is absent.
  std::string word(std::string_view name) const;
  // Returns how many lines had numbers and no name; they are named "row 1", "row 2", …
  int rows() const { return rows_; }

 private:
  class LineParser;
  class XmlParser;
  struct Value {
    std::string_view text;
    bool repeated = false;
  };

  void add(std::string name, std::string_view text);

  std::map<std::string, Value, std::less<>> values_;
  int rows_ = 0;
};

}  // namespace stereopsis::io
