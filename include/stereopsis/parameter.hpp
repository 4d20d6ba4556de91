// Parameters of methods as data: for `methods NAME`, `--set`, and user interfaces with sliders, lists and switches.
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
  std::string value;        // as accepted by --set
  std::string allowed;      // "an odd integer from 1 to 15"
  std::string description;  // meaning, with the unit

  std::string default_value = {};                    // default of the method, else of the stage
  std::optional<double> minimum = {}, maximum = {};  // for integers, numbers, and each of several numbers
  double step = 0;                                   // distance of allowed values from the minimum on; 0: any
  std::vector<std::string> choices = {};             // allowed names of a choice; built-in names of a text
  std::string unit = {};                             // such as "pixels"; empty if there is none
  // True if another value may change the plan's steps or memory; otherwise it only changes numbers passed to steps.
  bool needs_plan = false;
};

namespace detail {
// Return a value as text that `--set` accepts.
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

// Types other than text from which a parameter can be set: a flag, a number, several numbers.
template <class T>
concept TypedParameter = std::integral<T> || std::floating_point<T> || std::same_as<T, std::vector<double>>;

}  // namespace stereopsis
