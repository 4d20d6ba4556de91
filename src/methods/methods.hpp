// The methods' definitions.
#pragma once

#include <string_view>

#include "graph/pipeline.hpp"

namespace stereopsis {

// Returns a pipeline with the default selection and no other stage.
PipelineData only_selection();
// Returns the pipeline of a method or preset. Throws Error(call) for an unknown name.
PipelineData method_data(std::string_view name);

// Methods with semi-global matching on features.
namespace sgm_methods {

PipelineData sgm();
PipelineData balanced();  // the preset `balanced`: sgm with filling by votes
PipelineData sgm_learned();
PipelineData accurate();
PipelineData sgm_learned_fast();
PipelineData banz_sgm();

}  // namespace sgm_methods

// Methods whose matching costs are colour differences, aggregated by weights or over segments of similar colour.
namespace colour_methods {

PipelineData esaw();
PipelineData asw();
PipelineData asw_separable();
PipelineData realtime_dp();
PipelineData realtime_bp();
PipelineData segment_support();

}  // namespace colour_methods
}  // namespace stereopsis
