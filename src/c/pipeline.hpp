// What a handle of a pipeline stands for.
#pragma once

#include <mutex>
#include <vector>

#include "c/handles.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::c {

struct PipelineObject {
  explicit PipelineObject(Pipeline p) : pipeline(std::move(p)) {}

  Pipeline pipeline;
  std::vector<ParameterInfo> parameters;          // as they were counted
  std::vector<std::vector<const char*>> choices;  // of them
  std::mutex mutex;
};

// A copy of the pipeline, as nobody changes it meanwhile.
Pipeline pipeline_of(const sp_pipeline* handle);

}  // namespace stereopsis::c
