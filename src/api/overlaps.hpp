// Rejects results that share memory with the pair, or with one another.
#pragma once

#include "stereopsis/matcher.hpp"

namespace stereopsis {

void check_overlaps(const StereoPair&, const MatchedViews&);
// Checks all images that the result has, also those that are not requested: matching resizes or frees them.
void check_overlaps(const StereoPair&, const Matched&);
void check_overlaps(const Plan&, const DevicePair&, const DeviceMatched&);

}  // namespace stereopsis
