// Checks of the input of a plan.
#pragma once

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Throws Error(call) if members of the problem are out of range, or contradict one another.
void check(const Problem& problem);
// Throws Error(call) if stages could not count the elements of their images in 32 bits; `seen` is the size of the
// images that stages see.
void check_extents(const Problem& problem, Size seen);

}  // namespace stereopsis
