// Properties of a pipeline's costs that are known before there is a program.
#pragma once

#include "graph/pipeline.hpp"

namespace stereopsis {

// Returns the port through which a stage reads (`comes_in`) or writes costs; null if there is no such port.
const Port* cost_port(const Ports& ports, bool comes_in);

// Throws Error(call) for combinations of stages that the element types of volumes do not exclude.
void check_combination(const PipelineData& pipeline, const Request& request);

}  // namespace stereopsis
