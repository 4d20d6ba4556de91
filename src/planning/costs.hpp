// Properties of a pipeline's costs that are known before there is a program.
#pragma once

#include <string_view>

#include "graph/pipeline.hpp"

namespace stereopsis {

// Returns the port through which a stage reads (`comes_in`) or writes costs; null if there is no such port.
const Port* cost_port(const Ports& ports, bool comes_in);

// Returns whether the pipeline has a stage, switched on or off, without a finite required input. Filters with large
// windows read all pixels of their windows.
bool takes_margin(const PipelineData& pipeline);
// Returns whether costs may have to be converted to 8-bit integers, because a stage does not accept the type or the
// largest cost of the previous stage.
bool may_quantise(const PipelineData& pipeline);

// Throws Error(call) for combinations of stages that the element types of volumes do not exclude.
void check_combination(const PipelineData& pipeline, const Request& request);

}  // namespace stereopsis
