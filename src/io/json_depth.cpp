// Checks the nesting depth of JSON before parsing, because functions that print, copy or compare JSON recurse at each
// level.
#include "core/text.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {

void check_json_depth(std::string_view json) {
  constexpr int deepest = 64;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > deepest)
        throw Error(ErrorCategory::format, text("the JSON is nested more than ", deepest, " levels deep at byte ", i,
                                                "; at most ", deepest, " levels are allowed, so use fewer levels"));
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
}

}  // namespace stereopsis
