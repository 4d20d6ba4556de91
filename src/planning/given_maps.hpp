// Maps that come from outside, for refinements alone: which inputs these need, and the step that copies what they
// change.
#pragma once

#include "graph/builder.hpp"

namespace stereopsis::given_maps {

// Inputs that refinements need beside the disparity and the validity.
struct Needs {
  bool images = true;
  bool right = false;
  bool confidence = false;
};
// Returns the needs of the refinements that run.
Needs needs_of(const PipelineData& pipeline, bool want_confidence);

// Returns the maps that the refinements change: copies of those that come from outside.
Maps lower(Builder& builder, Size size);

}  // namespace stereopsis::given_maps
