// Lowers refinements of maps that the caller passes: determines the inputs that the refinements need, and adds the step
// that copies the changed maps.
#pragma once

#include "graph/builder.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::given_maps {

// Returns the inputs that the refinements that are switched on need in addition to disparity and validity.
RefinementNeeds needs_of(const PipelineData& pipeline, bool want_confidence);

// Returns the maps that the refinements change: copies of the caller's maps.
Maps lower(Builder& builder, Size size);

}  // namespace stereopsis::given_maps
