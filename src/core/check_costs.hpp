// The range of costs that a caller gives.
#pragma once

#include <string>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Throws Error(call) if a cost is below 0 or above `largest`, because stages would clamp the cost. A `largest` of 0 means
// the largest value of the integer type, or 1 for float. Absent candidates are ignored: 65535, infinity and NaN.
void check_costs(const std::string& name, const AnyImageView& volume, double largest);

}  // namespace stereopsis
