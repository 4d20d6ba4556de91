// Maps that the caller passes to be refined: the inputs that refinements need, and the step that copies the changed
// maps.
#pragma once

#include "graph/builder.hpp"

namespace stereopsis::given_maps {

// Inputs that refinements need in addition to disparity and validity.
struct Needs {
  bool images = true;
  bool right = false;
  bool confidence = false;
};
// Returns the needs of the refinements that run.
Needs needs_of(const PipelineData& pipeline, bool want_confidence);

// Returns the maps that the refinements change: copies of the caller's maps.
Maps lower(Builder& builder, Size size);

}  // namespace stereopsis::given_maps
