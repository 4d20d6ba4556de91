#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/tokens.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::io {
namespace {

using Json = nlohmann::ordered_json;

// Rejects duplicate keys, which the parser would drop silently.
class Duplicates {
 public:
  bool operator()(int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(value.get<std::string>()).second)
      throw Error(ErrorCategory::format,
                  text("the JSON of the pipeline has the key ", value.dump(), " twice; keep one of them"));
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

Json parse(std::string_view json) try {
  check_json_depth(json);
  return Json::parse(json, Duplicates{});
} catch (const Json::exception& error) {
  // The message of the exception begins with a name in brackets, and may quote invalid input.
  std::string message = error.what();
  if (const auto end = message.find("] "); message.starts_with('[') && end != std::string::npos)
    message.erase(0, end + 2);
  for (char& c : message)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  throw Error(ErrorCategory::format, text("the pipeline is not valid JSON: ", message,
                                          "; `stereopsis methods NAME --json` prints a pipeline to start from"));
}

// Rejects control characters in names and values, because error messages and commands print them.
void check_strings(const Json& value) {
  const auto check = [](const std::string& s) {
    if (std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }))
      throw Error(ErrorCategory::format,
                  text("the pipeline contains '", Tokens::printable(s), "' with control characters; remove them"));
  };
  if (value.is_string()) check(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, entry] : value.items()) check(key), check_strings(entry);
}

// Returns the JSON text of a value, or its beginning, for error messages.
std::string shown(const Json& value) {
  std::string s = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return s.size() <= 40 ? s : s.substr(0, 40) + "…";
}

// Returns the value as text in the notation of --set.
std::string value_text(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return value.dump();
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& part : value) {
      if (!part.is_number()) break;
      parts.push_back(part.dump());
    }
    if (parts.size() == value.size()) return join(parts, ",");
  }
  throw Error(ErrorCategory::format, text("the parameter ", name, " of the pipeline has the value ", shown(value),
                                          "; it must be a number, a string, true, false or a list of numbers"));
}

std::string string_of(const char* key, const Json& value) {
  if (!value.is_string())
    throw Error(ErrorCategory::format, text('"', key, "\" in the pipeline is ", shown(value), "; it must be a string"));
  return value.get<std::string>();
}

// Returns the name of the stage, such as "median" for the slot "median2".
std::string own_stage(const std::string& slot) { return slot.substr(0, slot.find_last_not_of("0123456789") + 1); }

constexpr const char* list_key = "refinements";

// Converts names from files of earlier versions to the current names.
std::string todays(std::string name) {
  if (name == "roi") return "region";
  if (name == "winner_takes_all") return "wta";
  return name;
}

// Returns the name of a parameter, with the current spelling: `gamma_color` for `gamma_colour`.
std::string todays_parameter(const Json& slot, const std::string& key) {
  const std::size_t place = key.find("colour");
  if (place == key.npos) return key;
  const std::string now = std::string(key).replace(place, 6, "color");
  if (slot.contains(now))
    throw Error(ErrorCategory::format, text("the pipeline contains both \"", now, "\" and its earlier spelling \"", key,
                                            "\"; keep one of them"));
  return now;
}

PipelineSlot slot_of(const std::string& name, const Json& value) {
  if (!value.is_object())
    throw Error(ErrorCategory::format, text("the slot ", shown(Json(name)), " of the pipeline is ", shown(value),
                                            "; it must be an object like {\"stage\": \"rank\", \"window\": 9}"));
  PipelineSlot slot{name, own_stage(name), {}};
  for (const auto& [key, entry] : value.items()) {
    const std::string full_name = text(name, '.', todays_parameter(value, key));
    if (key == "stage")
      slot.kind = todays(string_of("stage", entry));
    else
      slot.parameters.push_back(
          {.name = full_name, .type = {}, .value = value_text(full_name, entry), .allowed = {}, .description = {}});
  }
  return slot;
}

// Returns the refinements in order, named as slots: the second median is "median2".
std::vector<PipelineSlot> refinements_of(const Json& list) {
  if (!list.is_array())
    throw Error(ErrorCategory::format,
                text("\"refinements\" in the pipeline is ", shown(list),
                     "; it must be a list of objects like {\"stage\": \"median\", \"window\": 3}"));
  std::vector<PipelineSlot> slots;
  std::map<std::string, int> seen;
  for (const Json& refinement : list) {
    if (!refinement.is_object() || !refinement.contains("stage"))
      throw Error(ErrorCategory::format, text("\"refinements\" in the pipeline contains ", shown(refinement),
                                              "; each entry must be an object with a \"stage\""));
    const std::string stage = string_of("stage", refinement["stage"]);
    const int number = ++seen[stage];
    slots.push_back(slot_of(number == 1 ? stage : text(stage, number), refinement));
    slots.back().is_refinement = true;
  }
  return slots;
}

// Rejects the methods that only the Python package runs. It parses their pipelines itself.
void check_method(const std::string& method) {
  if (method.starts_with("onnx:") || method.starts_with("program:"))
    throw Error(
        ErrorCategory::unsupported,
        text("the pipeline uses the method ", shown(Json(method)),
             ", which only the Python package runs; give the method by --method, and its refinements by --set"));
}

Json number_of(std::string_view value) {
  if (const auto integer = parse_number<std::int64_t>(value)) return *integer;
  if (const auto number = parse_number<double>(value); number && std::isfinite(*number)) return *number;
  return value;
}

Json typed(const ParameterInfo& parameter) {
  if (parameter.type == "flag") return parameter.value == "true";
  if (parameter.type == "integer" || parameter.type == "number") return number_of(parameter.value);
  if (parameter.type != "numbers") return parameter.value;
  Json list = Json::array();
  for (const std::string& part : split(parameter.value, ',')) list.push_back(number_of(part));
  return list;
}

}  // namespace

std::string value_to_json(const ParameterInfo& parameter) { return typed(parameter).dump(); }

NamedSlots slots_from_json(std::string_view json) {
  const Json root = parse(json);
  check_strings(root);
  if (!root.is_object())
    throw Error(ErrorCategory::format, text("a pipeline must be a JSON object, not ", shown(root)));
  if (!root.contains("method"))
    throw Error(
        ErrorCategory::format,
        "the JSON of the pipeline has no \"method\"; add the name of the method on which the pipeline is based");
  NamedSlots pipeline{.method = string_of("method", root["method"]), .slots = {}};
  check_method(pipeline.method);
  for (const auto& [key, value] : root.items()) {
    if (key == "method") continue;
    if (key != list_key)
      pipeline.slots.push_back(slot_of(todays(key), value));
    else
      for (PipelineSlot& slot : refinements_of(value)) pipeline.slots.push_back(std::move(slot));
  }
  return pipeline;
}

std::string slots_to_json(const NamedSlots& pipeline) {
  Json root;
  root["method"] = pipeline.method;
  for (const PipelineSlot& slot : pipeline.slots) {
    Json object = Json::object();
    if (slot.is_refinement || slot.kind != slot.slot) object["stage"] = slot.kind;
    for (const ParameterInfo& parameter : slot.parameters)
      object[parameter.name.substr(parameter.name.find('.') + 1)] = typed(parameter);
    if (slot.is_refinement)
      root[list_key].push_back(std::move(object));
    else
      root[slot.slot] = std::move(object);
  }
  return root.dump(2) + "\n";
}

}  // namespace stereopsis::io
