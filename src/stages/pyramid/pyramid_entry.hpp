// Parameters with which a level of the pyramid is computed.
#pragma once

#include "graph/registry.hpp"
#include "stages/pyramid/pyramid.hpp"

namespace stereopsis::pyramid {

struct LevelParameters {
  Parameters pyramid;
  wta::Parameters select;
  window_sad::Window window = window_sad::Parameters().window();  // window of the matching cost
};

extern const Lowering lowering;
extern const RegionRule region_rule;
void check_pipeline(const PipelineData&, const Request&);

}  // namespace stereopsis::pyramid
