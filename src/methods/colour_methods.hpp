// Methods whose matching costs are colour differences, aggregated by weights or over segments of similar colour.
#pragma once

#include "graph/pipeline.hpp"

namespace stereopsis::colour_methods {

PipelineData esaw();
PipelineData asw();
PipelineData asw_separable();
PipelineData realtime_dp();
PipelineData realtime_bp();
PipelineData segment_support();

}  // namespace stereopsis::colour_methods
