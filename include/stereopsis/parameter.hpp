// One parameter of a method: what `methods NAME` prints, `--set` takes, and a slider, a list or a switch is made of.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

namespace stereopsis {

// A parameter: its name, value, what is allowed and what it means.
struct ParameterInfo {
  std::string name;         // slot.parameter
  std::string type;         // flag, choice, integer, number, numbers or text
  std::string value;        // as --set takes it
  std::string allowed;      // "an odd integer from 1 to 15"
  std::string description;  // with its unit

  std::string default_value = {};                    // of the method; of a pipeline that is none, of the stage
  std::optional<double> minimum = {}, maximum = {};  // of an integer, a number, and each of several numbers
  double step = 0;                                   // from the minimum on; 0: any number between
  std::vector<std::string> choices = {};             // of a choice; of a text, those that are always there
  std::string unit = {};                             // "pixels"; empty: it has none
  // Whether another value may take other steps or memory; else only numbers that steps are given change.
  bool needs_plan = false;
};

namespace detail {
// As `--set` takes them.
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

// What a parameter can be set from beside a text: a flag, a number, several numbers.
template <class T>
concept TypedParameter = std::integral<T> || std::floating_point<T> || std::same_as<T, std::vector<double>>;

}  // namespace stereopsis
