// Converts the events of a YAML or JSON parser to the names and values of a Document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/calibration_document.hpp"

namespace stereopsis::io {

class Collector {
 public:
  explicit Collector(Document& document) : document_(document) {}

  void begin_map();
  void begin_list();
  void end();                       // ends the innermost map or list
  void key(std::string_view name);  // names the next value of the innermost map
  void scalar(std::string_view text);
  bool in_map() const { return !levels_.empty() && levels_.back().list == nullptr; }

 private:
  struct Level {
    std::size_t path_length;
    Document::Value* list;  // receives the scalars of a list; null in a map
    int items = 0;
  };

  void begin(Document::Value* list);

  Document& document_;
  std::string path_;  // path of the next value
  std::vector<Level> levels_;
};

// Throws Error(format) for a longer name or a deeper nesting than calibration files have. These limits keep the memory
// proportional to the size of the file.
void check_name(std::string_view name);
void check_depth(std::size_t depth);

}  // namespace stereopsis::io
