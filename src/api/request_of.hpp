// The public Problem in the planner's terms.
#pragma once

#include "graph/pipeline.hpp"
#include "graph/request.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

Request request_of(const Problem& problem);
// Returns what the pipeline's refinements alone require beside disparity and validity.
RefinementNeeds needs_of(const PipelineData& pipeline, bool want_confidence);

}  // namespace stereopsis
