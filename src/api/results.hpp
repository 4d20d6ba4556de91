// The images of results: allocated in the sizes that a plan gives them, and assembled from the part that a region
// requires.
#pragma once

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Gives the images of a result their sizes, and returns views of them.
MatchedViews resized_views(const Plan& plan, Matched& result);
// Gives the images the size of the part that the plan's region requires, which the engine writes, and returns their
// views.
MatchedViews resized_part_views(const Plan& plan, Matched& part);
// Returns a result with page-locked images, for the plan's device.
Matched page_locked_result(const Plan& plan);
// Copies the region from `part` to `result`, and sets pixels outside the region to their value there.
void place_part(const Plan& plan, const MatchedViews& part, const MatchedViews& result);

}  // namespace stereopsis
