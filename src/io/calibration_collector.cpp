#include "io/calibration_collector.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t deepest_nesting = 16;

}  // namespace

void check_name(std::string_view name) {
  if (name.size() > longest_name)
    throw Error(ErrorCategory::format,
                text("the name '", Tokens::printable(name), "…' has ", name.size(),
                     " characters; a name may have at most ", longest_name, "; check that this is a calibration file"));
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    throw Error(ErrorCategory::format, text("the name '", Tokens::printable(name),
                                            "' holds a control character; check that this is a "
                                            "calibration file"));
}

void check_depth(std::size_t depth) {
  if (depth > deepest_nesting)
    throw Error(ErrorCategory::format,
                "the file is nested too deeply for a calibration; check that this is the right file");
}

void Collector::begin(Document::Value* list) {
  if (!levels_.empty() && !in_map())
    path_ = text(path_.substr(0, levels_.back().path_length), '.', levels_.back().items++);
  levels_.push_back({path_.size(), list});
  check_depth(levels_.size());
}

void Collector::begin_map() { begin(nullptr); }

// The values of a nested list are appended to the outermost list.
void Collector::begin_list() { begin(!levels_.empty() && !in_map() ? levels_.back().list : &document_.add(path_, "")); }

void Collector::end() {
  path_.resize(levels_.back().path_length);
  levels_.pop_back();
}

void Collector::key(std::string_view name) {
  check_name(name);
  path_.resize(levels_.back().path_length);
  if (!path_.empty()) path_ += '.';
  path_ += name;
}

void Collector::scalar(std::string_view text) {
  if (levels_.empty() || in_map()) {
    document_.add(path_, text);
    return;
  }
  ++levels_.back().items;
  std::string& list = levels_.back().list->text;
  if (!list.empty()) list += ' ';
  list += text;
}

}  // namespace stereopsis::io
