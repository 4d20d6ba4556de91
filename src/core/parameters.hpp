// Stage parameters as data: one description per stage serves for setting by name, checking, listing and JSON.
//
// The struct Parameters of a stage has one function:
//
//   static void describe(auto& p, auto&& visit) {
//     visit("window", p.window, odd(1, 15).in("pixels"), "side of the square window");
//   }
//
// A field is a bool, an int, a double, a std::vector<double>, a Named type, or an enum with a function
// `constexpr std::array<std::pair<Enum, const char*>, N> names_of(Enum)` next to it.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/parameter.hpp"

namespace stereopsis {

// A value that the user specifies by name, such as a file whose contents are loaded. The constructor loads the value or
// throws. The function name() returns the name, known_names() returns the built-in names, and allowed_names() describes
// the allowed names in words.
template <class T>
concept Named = requires(const T& value) {
  T(std::string_view());
  { value.name() } -> std::convertible_to<std::string>;
  T::known_names();
  T::allowed_names();
};

// The allowed values of a number: every value from low to high or, if `step` is not 0, low, low + step, …, high.
struct Range {
  double low = 0;
  double high = 0;
  int step = 0;
  const char* unit = "";
  bool plans = false;  // true if a new value may change the steps or the memory of a plan

  constexpr Range in(const char* name) const { return {low, high, step, name, plans}; }
  constexpr Range planned() const { return {low, high, step, unit, true}; }
  bool contains(double v) const {
    return v >= low && v <= high && (step == 0 || static_cast<long long>(v - low) % step == 0);
  }
};

constexpr Range between(double low, double high) { return {low, high}; }
// Ranges for window sizes and path counts. Changing such a parameter changes the plan.
constexpr Range odd(int low, int high) { return {static_cast<double>(low), static_cast<double>(high), 2, "", true}; }
constexpr Range either(int a, int b) { return {static_cast<double>(a), static_cast<double>(b), b - a, "", true}; }
// The range of fields without a range: flags and choices.
struct Any {};
inline constexpr Any any{};

// Returns whether `given` is the name of a parameter, with or without its slot, or its spelling in earlier versions:
// `gamma_colour` for `gamma_color`.
constexpr bool is_spelling_of(std::string_view given, std::string_view name) {
  constexpr std::string_view now = "color", before = "colour";
  const std::size_t place = given.find(before, given.find('.') + 1);
  if (place == given.npos) return given == name;
  return name.size() + 1 == given.size() && name.substr(0, place) == given.substr(0, place) &&
         name.substr(place, now.size()) == now &&
         name.substr(place + now.size()) == given.substr(place + before.size());
}

namespace detail {

template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "flag";
  else if constexpr (std::is_enum_v<T>)
    return "choice";
  else if constexpr (std::is_same_v<T, int>)
    return "integer";
  else if constexpr (std::is_same_v<T, double>)
    return "number";
  else if constexpr (Named<T>)
    return "text";
  else
    return "numbers";
}

template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    for (const auto& [candidate, name] : names_of(T{}))
      if (candidate == value) return name;
    return "?";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number_text(value);
  } else if constexpr (Named<T>) {
    return value.name();
  } else {
    std::vector<std::string> parts;
    for (double v : value) parts.push_back(number_text(v));
    return join(parts, ",");
  }
}

template <class T, class Allowed>
std::string allowed_text(const Allowed& allowed) {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> names;
    for (const auto& entry : names_of(T{})) names.emplace_back(entry.second);
    return join(names, ", ");
  } else if constexpr (Named<T>) {
    return T::allowed_names();
  } else {
    if (allowed.step > 0 && allowed.low + allowed.step == allowed.high)
      return text(number_text(allowed.low), " or ", number_text(allowed.high));
    const char* kind = std::is_same_v<T, int>      ? (allowed.step == 2 ? "an odd integer" : "an integer")
                       : std::is_same_v<T, double> ? "a number"
                                                   : "comma-separated numbers";
    return text(kind, " from ", number_text(allowed.low), " to ", number_text(allowed.high));
  }
}

template <class T, class Allowed>
bool is_allowed(const T& value, const Allowed& allowed) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return allowed.contains(value);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    for (double v : value)
      if (!allowed.contains(v)) return false;
    return true;
  } else {
    return true;
  }
}

// Returns whether `s` is a valid T. Changes `value` only if `s` is valid.
template <class T>
bool parse_value(std::string_view s, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (s != "true" && s != "false") return false;
    value = s == "true";
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    for (const auto& [candidate, name] : names_of(T{})) {
      if (s != name) continue;
      value = candidate;
      return true;
    }
    return false;
  } else if constexpr (std::is_arithmetic_v<T>) {
    const auto number = parse_number<T>(s);
    if (number) value = *number;
    return number.has_value();
  } else if constexpr (Named<T>) {
    value = T(s);
    return true;
  } else {
    std::vector<double> numbers;
    for (const std::string& part : split(s, ',')) {
      const auto number = parse_number<double>(part);
      if (!number) return false;
      numbers.push_back(*number);
    }
    value = std::move(numbers);
    return true;
  }
}

// Appends the unit to a description, as in "side of the square window, pixels". The description of a percentage names
// the unit itself.
template <class T, class Allowed>
std::string with_unit(const char* description, const Allowed& allowed) {
  if constexpr (std::is_same_v<Allowed, Range>)
    if (const std::string_view unit = allowed.unit; !unit.empty() && unit != "percent")
      return text(description, ", ", unit);
  return description;
}

template <class T, class Allowed>
void add_numbers(ParameterInfo& info, const Allowed& allowed) {
  if constexpr (std::is_enum_v<T>)
    for (const auto& choice : names_of(T{})) info.choices.emplace_back(choice.second);
  if constexpr (Named<T>)
    for (const char* name : T::known_names()) info.choices.emplace_back(name);
  if constexpr (std::is_same_v<Allowed, Range>) {
    info.minimum = allowed.low;
    info.maximum = allowed.high;
    info.step = std::is_same_v<T, int> ? std::max(allowed.step, 1) : allowed.step;
    info.unit = allowed.unit;
    info.needs_plan = allowed.plans;
  } else {
    info.needs_plan = true;
  }
}

}  // namespace detail

// Throws an Error for the first parameter that is out of its range.
template <class Parameters>
void check_ranges(std::string_view stage, const Parameters& parameters) {
  Parameters::describe(parameters, [&]<class T>(const char* name, const T& value, const auto& allowed, const char*) {
    if (!detail::is_allowed(value, allowed))
      throw Error(ErrorCategory::call, text(stage, '.', name, " = ", detail::value_text(value),
                                            " is not allowed; it must be ", detail::allowed_text<T>(allowed)));
  });
}

// Sets one parameter from text, also by an earlier spelling of its name. Returns false if the stage has no parameter of that name.
template <class Parameters>
bool set_parameter(std::string_view stage, Parameters& parameters, std::string_view name, std::string_view value) {
  bool found = false;
  Parameters::describe(parameters, [&]<class T>(const char* field_name, T& field, const auto& allowed, const char*) {
    if (!is_spelling_of(name, field_name)) return;
    found = true;
    T parsed{};
    if (!detail::parse_value(value, parsed) || !detail::is_allowed(parsed, allowed))
      throw Error(ErrorCategory::call, text(stage, '.', name, " = ", value, " is not allowed; it must be ",
                                            detail::allowed_text<T>(allowed)));
    field = std::move(parsed);
  });
  return found;
}

// Appends all parameters to `list`, each named `stage.name`.
template <class Parameters>
void list_parameters(std::string_view stage, const Parameters& parameters, std::vector<ParameterInfo>& list) {
  Parameters::describe(parameters, [&]<class T>(const char* name, const T& value, const auto& allowed,
                                                const char* description) {
    ParameterInfo& info =
        list.emplace_back(ParameterInfo{text(stage, '.', name), detail::type_name<T>(), detail::value_text(value),
                                        detail::allowed_text<T>(allowed), detail::with_unit<T>(description, allowed)});
    detail::add_numbers<T>(info, allowed);
  });
}

}  // namespace stereopsis
