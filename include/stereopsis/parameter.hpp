// One parameter of a method, as text: what `methods NAME` prints and `--set` takes.
#pragma once

#include <string>

namespace stereopsis {

struct ParameterInfo {
  std::string name;         // slot.parameter
  std::string type;         // flag, choice, integer, number or numbers
  std::string value;        // as --set takes it
  std::string allowed;      // "an odd integer from 1 to 15"
  std::string description;  // with its unit
};

}  // namespace stereopsis
