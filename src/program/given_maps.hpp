// Maps that come from outside, for refinements alone: what these need beside the disparity and the validity, and the step that
// copies what they change.
#pragma once

#include "program/pipeline_data.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::given_maps {

// Of a pipeline's refinements that run.
RefinementNeeds needs_of(const PipelineData&, bool want_confidence);

// Reads the disparity, the validity and, if there is one, the confidence; writes the same.
const StageDescriptor& entry();

}  // namespace stereopsis::given_maps
