// Checks of what a plan is made for.
#pragma once

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Throws Error(call) where members of the problem are out of range, or contradict one another.
void check(const Problem& problem);
// Throws Error(call) where stages could not count the elements of images of the problem, of which they see `seen`.
void check_extents(const Problem& problem, Size seen);

}  // namespace stereopsis
