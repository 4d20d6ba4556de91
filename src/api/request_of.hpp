// Converts the public Problem to the planner's Request.
#pragma once

#include "graph/pipeline.hpp"
#include "graph/request.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

Request request_of(const Problem& problem);
// Returns the inputs that the refinements of a pipeline require in addition to disparity and validity.
RefinementNeeds needs_of(const PipelineData& pipeline, bool want_confidence);

}  // namespace stereopsis
