#include "c/pipeline.hpp"

#include <cstring>
#include <limits>

#include "c/structs.hpp"

namespace stereopsis::c {
namespace {

auto& pipelines() { return handles<sp_pipeline, PipelineObject>(); }
std::shared_ptr<PipelineObject> at(const sp_pipeline* handle) { return pipelines().at(handle, "pipeline"); }

sp_parameter parameter_of(const ParameterInfo& info, const std::vector<const char*>& choices) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  sp_parameter p{};
  p.name = info.name.c_str();
  p.type = info.type.c_str();
  p.value = info.value.c_str();
  p.default_value = info.default_value.c_str();
  p.allowed = info.allowed.c_str();
  p.description = info.description.c_str();
  p.unit = info.unit.c_str();
  p.choices = choices.data();
  p.choice_count = choices.size();
  p.minimum = info.minimum.value_or(none);
  p.maximum = info.maximum.value_or(none);
  p.step = info.step;
  p.needs_plan = info.needs_plan;
  return p;
}

// The arguments of a user-defined stage, converted to C structs.
class StageCall {
 public:
  StageCall(const UserCall& call, std::int32_t place) {
    call_.struct_size = sizeof call_;
    call_.reference = kept(call.reference, place);
    call_.other = kept(call.other, place);
    call_.mask_reference = kept(call.mask_reference, place);
    call_.mask_other = kept(call.mask_other, place);
    call_.costs = kept(call.costs, place);
    call_.made = kept(call.made, place);
    call_.disparity = kept(call.disparity, place);
    call_.validity = kept(call.validity, place);
    call_.confidence = kept(call.confidence, place);
    call_.stream = reinterpret_cast<void*>(static_cast<std::uintptr_t>(call.stream.value_or(0)));
    call_.min_disparity = call.range.min;
    call_.disparities = call.range.count;
    call_.from_right = call.from_right;
    call_.threads = call.threads;
  }
  const sp_stage_call* get() const { return &call_; }

 private:
  const sp_image* kept(const DeviceImageView& view, std::int32_t place) {
    if (view.memory == 0) return nullptr;
    images_[count_] = image_of(view, place);
    return &images_[count_++];
  }

  sp_image images_[9];
  int count_ = 0;
  sp_stage_call call_{};
};

std::function<void(const UserCall&)> function_of(sp_stage_function f, void* user, std::int32_t place) {
  if (f == nullptr) return {};
  return [f, user, place](const UserCall& call) {
    const std::int32_t ended = f(StageCall(call, place).get(), user);
    if (ended != 0) throw Error(ErrorCategory::call, text("its function returned ", ended));
  };
}

UserStage stage_of(const sp_stage* given) {
  const sp_stage s = read(given, "stage");
  UserStage stage;
  stage.name = given_text(s.name, "stage.name");
  stage.cpu = function_of(s.cpu, s.user, SP_HOST);
  stage.gpu = function_of(s.gpu, s.user, SP_DEVICE);
  stage.makes = pixel_type(s.makes, "stage.makes");
  stage.largest = s.largest;
  if (s.takes != -1) stage.takes = pixel_type(s.takes, "stage.takes");
  if (s.required_input != nullptr)
    stage.required_input = [f = s.required_input, user = s.user](const Rect& r) {
      const sp_rect output{r.x, r.y, r.width, r.height};
      sp_rect input = output;
      f(&output, &input, user);
      return Rect{input.x, input.y, input.width, input.height};
    };
  return stage;
}

}  // namespace

Pipeline pipeline_of(const sp_pipeline* handle) {
  const auto object = at(handle);
  const std::lock_guard lock(object->mutex);
  return object->pipeline;
}

}  // namespace stereopsis::c

using namespace stereopsis;
using namespace stereopsis::c;

sp_status sp_method_count(size_t* count) {
  return guarded([&] { given(count, "count") = methods().size(); });
}

sp_status sp_method_get(size_t index, sp_method* method) {
  return guarded([&] {
    if (index >= methods().size())
      refuse(text("there is no method ", index, "; there are ", methods().size(), " methods, counted from 0"));
    const MethodInfo& info = methods()[index];
    write({0, info.name.c_str(), info.summary.c_str(), info.paper.c_str()}, method, "method");
  });
}

sp_status sp_pipeline_create(const char* method, sp_pipeline** pipeline) {
  return guarded([&] {
    given(pipeline, "pipeline") = nullptr;
    *pipeline = pipelines().add(std::make_unique<PipelineObject>(Pipeline(given_text(method, "method"))));
  });
}

sp_status sp_pipeline_copy(const sp_pipeline* pipeline, sp_pipeline** copy) {
  return guarded([&] {
    given(copy, "copy") = nullptr;
    *copy = pipelines().add(std::make_unique<PipelineObject>(pipeline_of(pipeline)));
  });
}

sp_status sp_pipeline_destroy(sp_pipeline* pipeline) {
  return guarded([&] { pipelines().remove(pipeline, "pipeline"); });
}

sp_status sp_pipeline_set(sp_pipeline* pipeline, const char* name, const char* value) {
  return guarded([&] {
    const auto object = at(pipeline);
    const std::lock_guard lock(object->mutex);
    object->pipeline.set(given_text(name, "name"), given_text(value, "value"));
  });
}

sp_status sp_pipeline_get(const sp_pipeline* pipeline, const char* name, char* value, size_t capacity, size_t* length) {
  return guarded([&] {
    const auto object = at(pipeline);
    const std::lock_guard lock(object->mutex);
    const std::string is = object->pipeline.get(given_text(name, "name"));
    if (length != nullptr) *length = is.size();
    if (value == nullptr && capacity == 0) return;
    if (value == nullptr)
      refuse(text("value is null, and capacity is ", capacity, "; pass a buffer, or the capacity 0"));
    if (capacity <= is.size())
      refuse(text("the value of ", name, " takes ", is.size() + 1, " bytes with its terminating zero, but capacity is ",
                  capacity));
    std::memcpy(value, is.c_str(), is.size() + 1);
  });
}

sp_status sp_pipeline_parameter_count(sp_pipeline* pipeline, size_t* count) {
  return guarded([&] {
    const auto object = at(pipeline);
    const std::lock_guard lock(object->mutex);
    std::size_t& place = given(count, "count");
    object->choices.clear();
    object->parameters = object->pipeline.parameters();
    for (const ParameterInfo& parameter : object->parameters) {
      auto& list = object->choices.emplace_back();
      for (const std::string& choice : parameter.choices) list.push_back(choice.c_str());
    }
    place = object->parameters.size();
  });
}

sp_status sp_pipeline_parameter(sp_pipeline* pipeline, size_t index, sp_parameter* parameter) {
  return guarded([&] {
    const auto object = at(pipeline);
    const std::lock_guard lock(object->mutex);
    if (index >= object->parameters.size())
      refuse(
          text("there is no parameter ", index, "; sp_pipeline_parameter_count returned ", object->parameters.size()));
    write(parameter_of(object->parameters[index], object->choices[index]), parameter, "parameter");
  });
}

sp_status sp_pipeline_set_stage(sp_pipeline* pipeline, const char* slot, const sp_stage* stage) {
  return guarded([&] {
    const auto object = at(pipeline);
    const std::lock_guard lock(object->mutex);
    object->pipeline.set_stage(given_text(slot, "slot"), stage_of(stage));
  });
}
