// Descriptions of parameters, for `methods NAME`, `--set`, and user interfaces with sliders, lists and switches.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

namespace stereopsis {

// A parameter: its name, its value, its allowed values and its meaning.
struct ParameterInfo {
  std::string name;         // slot.parameter
  std::string type;         // flag, choice, integer, number, numbers or text
  std::string value;        // current value, in the notation of --set
  std::string allowed;      // allowed values, such as "an odd integer from 1 to 15"
  std::string description;  // meaning of the parameter, with its unit

  // Default value of the method, or of the stage if the method has none.
  std::string default_value = {};
  std::optional<double> minimum = {}, maximum = {};  // limits of an integer, a number, or each of several numbers
  // Distance between allowed values, from the minimum on; 0 allows any value.
  double step = 0;
  std::vector<std::string> choices = {};             // allowed names of a choice; built-in names of a text
  std::string unit = {};                             // unit, such as "pixels"; empty if there is none
  // True if a new value may change the steps or the memory of a plan. False if a new value only changes numbers that
  // are passed to steps.
  bool needs_plan = false;
};

namespace detail {
// Return a value as text in the notation of `--set`.
std::string parameter_text(bool flag);
std::string parameter_text(long long number);
std::string parameter_text(double number);
std::string parameter_text(const std::vector<double>& numbers);
template <std::integral T>
std::string parameter_text(T number) {
  return parameter_text(static_cast<long long>(number));
}
template <std::floating_point T>
std::string parameter_text(T number) {
  return parameter_text(static_cast<double>(number));
}
}  // namespace detail

// Types of values, other than text, that a parameter can be set to: a flag, a number, several numbers.
template <class T>
concept TypedParameter = std::integral<T> || std::floating_point<T> || std::same_as<T, std::vector<double>>;

}  // namespace stereopsis
