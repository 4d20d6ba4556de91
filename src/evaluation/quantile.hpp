#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stereopsis {

// Returns the smallest of the values that at least `percent` % of the values do not exceed. `values` must not be empty
// and is reordered; `percent` is 1 to 100.
template <class T>
T quantile(std::vector<T>& values, int percent) {
  const std::size_t count = (values.size() * static_cast<std::size_t>(percent) + 99) / 100;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

}  // namespace stereopsis
