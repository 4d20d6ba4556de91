// Allocates the images of results, and assembles results from the part that a region requires.
#pragma once

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Resizes the images of a result to the sizes of the plan, and returns views of the images.
MatchedViews resized_views(const Plan& plan, Matched& result);
// Resizes the images to the part that the plan's region requires, which the engine writes, and returns views of the
// images.
MatchedViews resized_part_views(const Plan& plan, Matched& part);
// Returns a result with page-locked images, for the plan's device.
Matched page_locked_result(const Plan& plan);
// Copies the region from `part` to `result`. Sets pixels outside the region to the value that the table of outputs
// defines.
void place_part(const Plan& plan, const MatchedViews& part, const MatchedViews& result);

}  // namespace stereopsis
