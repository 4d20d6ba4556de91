// The object of a pipeline handle.
#pragma once

#include <mutex>
#include <vector>

#include "c/handles.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::c {

struct PipelineObject {
  explicit PipelineObject(Pipeline p) : pipeline(std::move(p)) {}

  Pipeline pipeline;
  std::vector<ParameterInfo> parameters;          // parameters at the last call of sp_pipeline_parameter_count
  std::vector<std::vector<const char*>> choices;  // strings of the choices of each parameter
  std::mutex mutex;
};

// Returns a copy of the pipeline, taken under its lock.
Pipeline pipeline_of(const sp_pipeline* handle);

}  // namespace stereopsis::c
