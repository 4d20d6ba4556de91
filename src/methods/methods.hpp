// The methods' definitions.
#pragma once

#include <string_view>

#include "graph/pipeline.hpp"

namespace stereopsis {

// Returns a pipeline with the default selection and no other stage.
PipelineData only_selection();
// Returns the pipeline of a method or preset. Throws Error(call) for an unknown name.
PipelineData method_data(std::string_view name);

}  // namespace stereopsis
