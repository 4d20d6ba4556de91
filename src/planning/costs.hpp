// Facts about a pipeline's costs that are known before there is a program.
#pragma once

#include <string_view>

#include "graph/pipeline.hpp"

namespace stereopsis {

// Returns the port of a stage that costs come in, or go out, by; null if there is none.
const Port* cost_port(const Ports& ports, bool comes_in);

// Returns whether some stage of the pipeline, switched on or off, has no finite required input. Filters whose windows
// reach far take all that theirs need.
bool takes_margin(const PipelineData& pipeline);
// Returns whether costs may have to become integers of 8 bits: a stage takes none of the type that the one before
// makes, or none so large.
bool may_quantise(const PipelineData& pipeline);

// Throws Error(call) for what the elements of volumes do not say by themselves.
void check_combination(const PipelineData& pipeline, const Request& request);

}  // namespace stereopsis
