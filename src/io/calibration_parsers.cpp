// Parsers for the notations of calibration files. Libraries parse YAML, XML and JSON; INI and rows of text are split
// into lines.
#include "io/calibration_parsers.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>
#include <vector>

#include "core/text.hpp"
#include "io/calibration_collector.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

constexpr std::string_view spaces = " \t\r\n\v\f";

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

[[noreturn]] void refuse_damaged(std::string_view notation, int line, std::string_view reason) {
  constexpr std::size_t longest_reason = 100;
  refuse(text("line ", line, " is not valid ", notation, " (", Tokens::printable(reason, longest_reason),
              "); the file is cut off, damaged, or no calibration"));
}

int line_at(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())), '\n'));
}

// Calls f(line, number) for each line.
template <class F>
void for_each_line(std::string_view text, F&& f) {
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    f(line, number);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

class YamlEvents : public YAML::EventHandler {
 public:
  explicit YamlEvents(Document& document) : collector_(document) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { value(mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(text("line ", mark.line + 1, " has an alias (*name), which is not supported; write the value in its place"));
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& text) override {
    value(mark, text);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    begin(mark);
    collector_.begin_list();
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    begin(mark);
    collector_.begin_map();
  }
  void OnMapEnd() override { end(); }

 private:
  // Keys and values alternate in a map.
  bool is_key() const { return collector_.in_map() && !has_key_.back(); }

  void value(const YAML::Mark& mark, std::string_view text) {
    if (has_key_.empty()) throw YAML::ParserException(mark, "there is no name");
    if (is_key()) {
      collector_.key(text);
      has_key_.back() = true;
    } else {
      collector_.scalar(text);
      has_key_.back() = false;
    }
  }

  void begin(const YAML::Mark& mark) {
    if (is_key()) throw YAML::ParserException(mark, "a list or a map takes the place of a name");
    has_key_.push_back(false);
  }

  void end() {
    collector_.end();
    has_key_.pop_back();
    if (!has_key_.empty()) has_key_.back() = false;
  }

  Collector collector_;
  std::vector<bool> has_key_;  // for each open map, whether the key of the next value was read
};

class JsonEvents : public nlohmann::json::json_sax_t {
 public:
  JsonEvents(std::string_view text, Document& document) : text_(text), collector_(document) {}

  bool null() override { return scalar(""); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
  bool string(string_t& text) override { return scalar(text); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override {
    collector_.key(name);
    return true;
  }
  bool start_object(std::size_t) override {
    collector_.begin_map();
    return true;
  }
  bool start_array(std::size_t) override {
    collector_.begin_list();
    return true;
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception&) override {
    refuse_damaged("JSON", line_at(text_, position), text("at '", token, "'"));
  }

 private:
  bool scalar(std::string_view text) {
    collector_.scalar(text);
    return true;
  }
  bool end() {
    collector_.end();
    return true;
  }

  std::string_view text_;
  Collector collector_;
};

std::string name_of(const pugi::xml_node& element) {
  const pugi::xml_attribute id = element.attribute("id");
  return id ? text(element.name(), '.', id.value()) : element.name();
}

void add_element(const pugi::xml_node& element, const std::string& path, std::size_t depth, Document& document) {
  check_depth(depth);
  const auto below = [&](const std::string& name) {
    check_name(name);
    return path.empty() ? name : text(path, '.', name);
  };
  if (!path.empty())
    for (const pugi::xml_attribute& attribute : element.attributes())
      document.add(below(attribute.name()), attribute.value());
  bool leaf = true;
  for (const pugi::xml_node& child : element.children())
    if (child.type() == pugi::node_element) {
      add_element(child, below(name_of(child)), depth + 1, document);
      leaf = false;
    }
  if (leaf && !path.empty()) document.add(path, trimmed(element.child_value()));
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         (c != '\0' && std::string_view("_-./+ ").find(c) != std::string_view::npos);
}

std::string lower(std::string_view s) {
  std::string lowered(s);
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

class IniParser {
 public:
  explicit IniParser(Document& document) : document_(document) {}

  void line(std::string_view line, int number) {
    if (!list_.empty()) return extend_list(line);
    const std::string_view content = trimmed(line);
    if (content.empty() || content[0] == '#' || content[0] == ';') return;
    if (content[0] == '[') {
      section_ = lower(content.substr(1, content.find(']') - 1)) + '.';
      return;
    }
    const std::size_t separator = std::min(content.find('='), content.size());
    const std::string_view name = trimmed(content.substr(0, separator));
    if (separator == content.size() || name.empty() || !std::all_of(name.begin(), name.end(), is_name_character))
      refuse(text("line ", number, " is '", Tokens::printable(content),
                  "'; it must be a name and its value (name=value), if the file is a calibration"));
    check_name(name);
    add(section_.empty() ? std::string(name) : section_ + lower(name), trimmed(content.substr(separator + 1)), number);
  }

  void finish() const {
    if (!list_.empty())
      refuse(text("the list of ", list_, " in line ", list_line_, " has no end; the file is cut off"));
  }

 private:
  void add(const std::string& name, std::string_view value, int number) {
    if (!value.starts_with('[')) {
      document_.add(name, trimmed(value.substr(0, std::min({value.find(" #"), value.find(" ;"), value.size()}))));
      return;
    }
    list_ = name;
    list_line_ = number;
    extend_list(value.substr(1));
  }

  // A list may span several lines.
  void extend_list(std::string_view line) {
    const std::size_t end = line.find(']');
    list_text_ += ' ';
    list_text_ += line.substr(0, end);
    if (end == std::string_view::npos) return;
    document_.add(list_, list_text_);
    list_.clear();
    list_text_.clear();
  }

  Document& document_;
  std::string section_;
  std::string list_, list_text_;  // name and text of a list whose end was not read yet
  int list_line_ = 0;
};

// Converts a text to strict YAML, which OpenCV and editors do not always write: inserts a space after each `name:` at
// the beginning of a line, and removes tabs before it.
std::string strict_yaml(std::string_view lenient) {
  std::string strict;
  for_each_line(lenient, [&](std::string_view line, int) {
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    for (const char c : line.substr(0, indent)) strict += c == '\t' ? "    " : " ";
    line.remove_prefix(indent);
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const bool named = colon != std::string_view::npos && std::all_of(name.begin(), name.end(), is_name_character);
    strict += named ? text(name, ": ", line.substr(colon + 1), '\n') : text(line, '\n');
  });
  return strict;
}

// Returns the first line that is neither empty, a comment nor a directive.
std::string_view first_content(std::string_view text) {
  std::string_view found;
  for_each_line(text, [&](std::string_view line, int) {
    const std::string_view content = trimmed(line);
    if (found.empty() && !content.empty() && content[0] != '#' && content[0] != '%' && content[0] != ';' &&
        !content.starts_with("---"))
      found = content;
  });
  return found;
}

}  // namespace

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(spaces);
  return first == std::string_view::npos ? std::string_view() : s.substr(first, s.find_last_not_of(spaces) - first + 1);
}

// OpenCV writes its own version in the directive (%YAML:1.0), which is not valid YAML.
void parse_yaml(std::string_view text, Document& document) try {
  if (trimmed(text).starts_with('%')) text.remove_prefix(std::min(text.find('\n', text.find('%')), text.size()));
  std::istringstream stream(strict_yaml(text));
  YamlEvents events(document);
  YAML::Parser(stream).HandleNextDocument(events);
} catch (const YAML::Exception& error) {
  // A text in an unknown notation is stored as one row with its beginning.
  if (document.top_names().empty()) return document.add_row(first_content(text));
  refuse_damaged("YAML", error.mark.line + 1, error.msg);
}

void parse_xml(std::string_view text, Document& document) {
  pugi::xml_document tree;
  const pugi::xml_parse_result result = tree.load_buffer(text.data(), text.size());
  if (!result) refuse_damaged("XML", line_at(text, static_cast<std::size_t>(result.offset)), result.description());
  add_element(tree.document_element(), "", 0, document);
}

void parse_json(std::string_view text, Document& document) {
  JsonEvents events(text, document);
  nlohmann::json::sax_parse(text, &events);
}

void parse_ini(std::string_view text, Document& document) {
  IniParser parser(document);
  for_each_line(text, [&](std::string_view line, int number) { parser.line(line, number); });
  parser.finish();
}

void parse_rows(std::string_view text, Document& document) {
  for_each_line(text, [&](std::string_view line, int) {
    const std::string_view content = trimmed(line);
    if (!content.empty() && content[0] != '#') document.add_row(content);
  });
}

Parser parser_of(std::string_view text) {
  const std::string_view content = first_content(text);
  if (trimmed(text).starts_with('<')) return parse_xml;
  if (content.starts_with('{')) return parse_json;
  if (content.starts_with('[')) {
    const std::string_view after = trimmed(content.substr(1));
    return !after.empty() && std::isalpha(static_cast<unsigned char>(after[0])) != 0 ? parse_ini : parse_json;
  }
  if (parse_number<double>(content.substr(0, content.find_first_of(" \t,")))) return parse_rows;
  const std::size_t separator = content.find_first_of(":=");
  return separator != std::string_view::npos && content[separator] == '=' ? parse_ini : parse_yaml;
}

}  // namespace stereopsis::io
