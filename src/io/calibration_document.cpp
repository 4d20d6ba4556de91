#include "io/calibration_document.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

// Bounds that no real calibration file comes near. With them, the memory needed grows no faster than the file.
constexpr std::size_t longest_name = 64;
constexpr std::size_t deepest_nesting = 16;

constexpr std::string_view spaces = " \t\r\n\v\f";

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(spaces);
  return first == std::string_view::npos ? std::string_view() : s.substr(first, s.find_last_not_of(spaces) - first + 1);
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/' || c == '+';
}

// Calls f with the parts between white space, commas and semicolons; skips the dashes of `- item` lines.
template <class F>
void for_each_part(std::string_view s, F&& f) {
  constexpr std::string_view separators = " \t\r\n\v\f,;";
  while (true) {
    s.remove_prefix(std::min(s.find_first_not_of(separators), s.size()));
    if (s.empty()) return;
    const std::string_view part = s.substr(0, s.find_first_of(separators));
    if (part != "-") f(part);
    s.remove_prefix(part.size());
  }
}

bool all_numbers(std::string_view s) {
  bool all = true;
  for_each_part(s, [&](std::string_view part) { all = all && parse_number<double>(part).has_value(); });
  return all && !s.empty();
}

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

// Joins the names of the enclosing elements or lines, outermost first.
std::string path_of(const std::vector<std::string_view>& names) {
  std::string path;
  for (const std::string_view name : names) path += path.empty() ? std::string(name) : text('.', name);
  return path;
}

}  // namespace

void Document::add(std::string name, std::string_view text) {
  const auto [entry, is_new] = values_.try_emplace(std::move(name), Value{text});
  if (!is_new) entry->second.repeated = true;
}

std::vector<double> Document::numbers_up_to(std::string_view name, std::size_t most) const {
  const auto entry = values_.find(name);
  if (entry == values_.end())
    refuse(text("there is no ", name, " in the file; the file is cut off, or has another format"));
  if (entry->second.repeated) refuse(text(name, " is in the file more than once; keep one of them"));
  std::vector<double> numbers;
  std::size_t found = 0;
  for_each_part(entry->second.text, [&](std::string_view part) {
    if (++found > most) return;
    const auto number = parse_number<double>(part);
    if (!number || !std::isfinite(*number))
      refuse(text(name, " holds '", Tokens::printable(part), "', which is not a finite number"));
    numbers.push_back(*number);
  });
  if (found > most) refuse(text(name, " holds ", found, " values; it may have at most ", most));
  return numbers;
}

std::vector<double> Document::numbers(std::string_view name, std::size_t count) const {
  const std::vector<double> numbers = numbers_up_to(name, std::max(count, std::size_t{1} << 20));
  if (numbers.size() != count) refuse(text(name, " holds ", numbers.size(), " values; it must have ", count));
  return numbers;
}

std::string Document::word(std::string_view name) const {
  const auto entry = values_.find(name);
  if (entry == values_.end()) return {};
  std::string_view value = trimmed(entry->second.text);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

class Document::LineParser {
 public:
  LineParser(std::string_view text, Document& document) : rest_(text), document_(document) {}

  void run() {
    while (!rest_.empty()) {
      ++line_number_;
      const std::string_view line = take_line();
      const std::string_view content = trimmed(line);
      if (content.empty() || content[0] == '#' || content[0] == '%' || content.starts_with("---") || content == "...")
        continue;
      read_line(line, static_cast<std::size_t>(content.data() - line.data()), content);
    }
  }

 private:
  struct Open {
    std::size_t indent;
    std::string_view name;
  };

  std::string_view take_line() {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    return line;
  }

  void read_line(std::string_view line, std::size_t indent, std::string_view content) {
    if (content == "-" || content.starts_with("- ")) return add_item(indent, content);
    const std::size_t name_length =
        static_cast<std::size_t>(std::find_if_not(content.begin(), content.end(), is_name_character) - content.begin());
    const std::size_t separator = content.find_first_not_of(" \t", name_length);
    const bool named = name_length > 0 && name_length <= longest_name && separator != std::string_view::npos &&
                       (content[separator] == ':' || content[separator] == '=');
    if (!named) return read_unnamed(indent, content);

    while (!open_.empty() && open_.back().indent >= indent) open_.pop_back();
    items_ = nullptr;
    last_indent_ = indent;
    const std::string_view name = content.substr(0, name_length);
    std::string_view value = trimmed(content.substr(separator + 1));
    if (value.starts_with('!')) value = trimmed(value.substr(std::min(value.find_first_of(" \t"), value.size())));
    if (value.starts_with('#')) value = {};
    if (value.starts_with('[')) return add_list(name, line, value);
    value = trimmed(value.substr(0, value.find(" #")));
    if (!value.empty()) return document_.add(path_to(name), value);
    if (open_.size() == deepest_nesting)
      refuse(text("line ", line_number_,
                  " is nested more deeply than a calibration can be; check that this is the right file"));
    open_.push_back({indent, name});
  }

  // Keeps a line of numbers as a row; ignores any other line without a name, such as a continuation.
  void read_unnamed(std::size_t indent, std::string_view content) {
    if (all_numbers(content)) return document_.add(text("row ", ++document_.rows_), content);
    if (indent > last_indent_) return;
    refuse(text("line ", line_number_, " is '", Tokens::printable(content), "'; it must be a name and its value"));
  }

  // Adds a list that may span several lines.
  void add_list(std::string_view name, std::string_view line, std::string_view value) {
    const char* first = value.data() + 1;
    const std::string_view from_first(first, static_cast<std::size_t>(rest_.data() + rest_.size() - first));
    const std::size_t length = from_first.find(']');
    if (length == std::string_view::npos)
      refuse(text("the list of ", name, " in line ", line_number_, " has no end; the file is cut off"));
    document_.add(path_to(name), from_first.substr(0, length));
    if (first + length <= line.data() + line.size()) return;
    line_number_ += static_cast<int>(std::count(rest_.data(), first + length, '\n'));
    rest_.remove_prefix(static_cast<std::size_t>(first + length - rest_.data()));
    take_line();
  }

  // Extends the value of a name by a `- item` line: the value spans the first to the last item.
  void add_item(std::size_t indent, std::string_view content) {
    while (!open_.empty() && open_.back().indent > indent) {
      open_.pop_back();
      items_ = nullptr;
    }
    last_indent_ = indent;
    if (open_.empty()) return;
    if (!items_) {
      std::vector<std::string_view> names = open_names();
      auto [entry, is_new] = document_.values_.try_emplace(path_of(names), Value{content});
      entry->second.repeated |= !is_new;
      items_ = &entry->second;
    }
    const char* end = content.data() + content.size();
    if (!items_->repeated) items_->text = {items_->text.data(), static_cast<std::size_t>(end - items_->text.data())};
  }

  std::vector<std::string_view> open_names() const {
    std::vector<std::string_view> names;
    for (const Open& open : open_) names.push_back(open.name);
    return names;
  }
  std::string path_to(std::string_view name) const {
    std::vector<std::string_view> names = open_names();
    names.push_back(name);
    return path_of(names);
  }

  std::string_view rest_;
  Document& document_;
  int line_number_ = 0;
  std::size_t last_indent_ = 0;
  std::vector<Open> open_;
  Value* items_ = nullptr;  // value of the innermost open name
};

// Parses elements only: skips attributes, comments and declarations. The root contributes no name.
class Document::XmlParser {
 public:
  XmlParser(std::string_view text, Document& document) : rest_(text), document_(document) {}

  void run() {
    for (std::string_view content; next_tag(content);) {
      if (tag_.starts_with('?') || tag_.starts_with('!')) continue;
      if (tag_.starts_with('/')) {
        close(content);
      } else if (!tag_.ends_with('/')) {
        open();
      } else {
        leaf_ = false;
      }
    }
    if (!open_.empty()) refuse(text("the element ", open_.back(), " has no end; the file is cut off"));
  }

 private:
  // Reads the next tag into `tag_`, without its brackets, and the text before it into `content`.
  bool next_tag(std::string_view& content) {
    const std::size_t start = rest_.find('<');
    content = rest_.substr(0, start);
    if (start == std::string_view::npos) return false;
    rest_.remove_prefix(start + 1);
    const std::string_view end = rest_.starts_with("!--") ? "-->" : ">";
    const std::size_t length = rest_.find(end);
    if (length == std::string_view::npos) refuse("a tag has no end; the file is cut off");
    tag_ = rest_.substr(0, length);
    rest_.remove_prefix(length + end.size());
    return true;
  }

  void open() {
    const std::string_view name = tag_.substr(0, tag_.find_first_of(spaces));
    if (name.empty() || name.size() > longest_name || !std::all_of(name.begin(), name.end(), is_name_character))
      refuse(text("'<", Tokens::printable(tag_), ">' is not the start of an element"));
    if (open_.size() == deepest_nesting)
      refuse(text("the element ", name,
                  " is nested more deeply than a calibration can be; check that this is the right file"));
    open_.push_back(name);
    leaf_ = true;
  }

  void close(std::string_view content) {
    const std::string_view name = trimmed(tag_.substr(1));
    if (open_.empty() || open_.back() != name)
      refuse(text("the element ", open_.empty() ? "(none)" : open_.back(), " is ended by </", Tokens::printable(name),
                  ">; the file is damaged"));
    if (leaf_ && open_.size() > 1) document_.add(path_of({open_.begin() + 1, open_.end()}), trimmed(content));
    open_.pop_back();
    leaf_ = false;
  }

  std::string_view rest_;
  Document& document_;
  std::string_view tag_;
  std::vector<std::string_view> open_;
  bool leaf_ = false;  // the innermost open element has no element inside
};

Document Document::parse(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (trimmed(text).empty()) refuse("the file is empty; give a calibration file");
  Document document;
  if (trimmed(text).starts_with('<')) {
    XmlParser(text, document).run();
  } else {
    LineParser(text, document).run();
  }
  return document;
}

}  // namespace stereopsis::io
