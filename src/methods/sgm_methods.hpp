// Methods with semi-global matching on features.
#pragma once

#include "graph/pipeline.hpp"

namespace stereopsis::sgm_methods {

PipelineData sgm();
PipelineData balanced();  // the preset `balanced`: sgm with filling by votes
PipelineData sgm_learned();
PipelineData sgm_learned_fast();
PipelineData banz_sgm();

}  // namespace stereopsis::sgm_methods
