// Lowers refinements of maps that the caller passes: determines the inputs that the refinements need, and adds the step
// that copies the changed maps.
#pragma once

#include "graph/builder.hpp"

namespace stereopsis::given_maps {

// Inputs that refinements need in addition to disparity and validity.
struct Needs {
  bool images = true;
  bool right = false;
  bool confidence = false;
};
// Returns the needs of the refinements that are switched on.
Needs needs_of(const PipelineData& pipeline, bool want_confidence);

// Returns the maps that the refinements change: copies of the caller's maps.
Maps lower(Builder& builder, Size size);

}  // namespace stereopsis::given_maps
