// Checks that two parameters of a stage are in order.
#pragma once

#include "core/parameters.hpp"

namespace stereopsis {

// Throws an Error that names both parameters if `low` is above `high`. `more` appends another remedy to the sentence.
template <class T>
void check_order(std::string_view stage, std::string_view lower, T low, std::string_view upper, T high,
                 std::string_view more = "") {
  if (low <= high) return;
  throw Error(ErrorCategory::call,
              text(stage, '.', lower, " = ", detail::value_text(low), " is above ", stage, '.', upper, " = ",
                   detail::value_text(high), "; set ", stage, '.', lower, " to at most ", detail::value_text(high),
                   ", or ", stage, '.', upper, " to at least ", detail::value_text(low), more));
}

}  // namespace stereopsis
