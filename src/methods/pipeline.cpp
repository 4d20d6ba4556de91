#include "stereopsis/pipeline.hpp"

#include <algorithm>
#include <optional>

#include "methods/pipeline_data.hpp"

namespace stereopsis {
namespace {

// The stage of a slot, default-constructed from its name.
template <class Variant, std::size_t i = 0>
std::optional<Variant> stage_of(const std::string& name) {
  if constexpr (i < std::variant_size_v<Variant>) {
    using P = std::variant_alternative_t<i, Variant>;
    if (name == P::stage) return Variant(P{});
    return stage_of<Variant, i + 1>(name);
  } else {
    return std::nullopt;
  }
}

template <class Variant>
std::vector<std::string> stage_names() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return std::vector<std::string>{std::variant_alternative_t<i, Variant>::stage...};
  }
  (std::make_index_sequence<std::variant_size_v<Variant>>());
}

template <class Variant>
Variant required_stage(const std::string& slot, const std::string& name) {
  if (const auto stage = stage_of<Variant>(name)) return *stage;
  throw Error(ErrorCategory::call, text("there is no stage '", name, "' for the slot '", slot, "'; it can be ",
                                        join(stage_names<Variant>(), ", ")));
}

using RefinementStage = decltype(Refinement::stage);

// "median2" is the second median.
std::string without_number(const std::string& slot) { return slot.substr(0, slot.find_last_not_of("0123456789") + 1); }

RefinementStage refinement_of(const PipelineSlot& slot) {
  const std::string name = without_number(slot.slot);
  if (const auto stage = stage_of<RefinementStage>(name)) return *stage;
  std::vector<std::string> names{"prepare", "cost", "aggregation", "optimisation", "select", "levels", "roi"};
  for (std::string& stage : stage_names<RefinementStage>()) names.push_back(std::move(stage));
  throw Error(ErrorCategory::call,
              text("a pipeline has no slot '", slot.slot, "'; the nearest is '", nearest_name(slot.slot, names), "'"));
}

// Whether `prefix` names this slot: by the slot, or by the stage in it where only one slot has that stage.
bool is_named(std::string_view prefix, std::string_view slot, std::string_view stage) {
  return prefix == slot || prefix == stage;
}

std::vector<std::string> all_names(const PipelineData& data) {
  std::vector<std::string> names;
  for_each_slot(data, [&](const std::string& slot, const std::string& stage, const auto& parameters) {
    for (const std::string& prefix : slot == stage ? std::vector{slot} : std::vector{slot, stage}) {
      std::vector<ParameterInfo> list;
      list_parameters(prefix, parameters, list);
      for (ParameterInfo& info : list) names.push_back(std::move(info.name));
    }
  });
  return names;
}

[[noreturn]] void refuse_name(const PipelineData& data, std::string_view name) {
  throw Error(ErrorCategory::call,
              text("the method '", data.method, "' has no parameter '", name, "'; the nearest is '",
                   nearest_name(name, all_names(data)), "' (stereopsis methods ", data.method, " lists all)"));
}

}  // namespace

Pipeline::Pipeline(std::string_view method) : data_(std::make_unique<PipelineData>(method_data(method))) {}
Pipeline::Pipeline(PipelineData data) : data_(std::make_unique<PipelineData>(std::move(data))) {}
Pipeline::~Pipeline() = default;
Pipeline::Pipeline(const Pipeline& other) : data_(std::make_unique<PipelineData>(*other.data_)) {}
Pipeline& Pipeline::operator=(const Pipeline& other) { return *this = Pipeline(other); }
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

const std::string& Pipeline::method() const { return data_->method; }

void Pipeline::set(std::string_view name, std::string_view value) {
  const std::size_t dot = name.find('.');
  bool found = false;
  for_each_slot(*data_, [&](const std::string& slot, const std::string& stage, auto& parameters) {
    if (found || dot == std::string_view::npos || !is_named(name.substr(0, dot), slot, stage)) return;
    found = set_parameter(name.substr(0, dot), parameters, name.substr(dot + 1), value);
  });
  if (!found) refuse_name(*data_, name);
}

std::string Pipeline::get(std::string_view name) const {
  std::optional<std::string> value;
  for_each_slot(*data_, [&](const std::string& slot, const std::string& stage, const auto& parameters) {
    for (const std::string& prefix : {slot, stage}) {
      std::vector<ParameterInfo> list;
      list_parameters(prefix, parameters, list);
      for (const ParameterInfo& info : list)
        if (info.name == name && !value) value = info.value;
    }
  });
  if (!value) refuse_name(*data_, name);
  return *value;
}

std::vector<ParameterInfo> Pipeline::parameters() const {
  std::vector<ParameterInfo> list;
  for (PipelineSlot& slot : slots())
    for (ParameterInfo& info : slot.parameters) list.push_back(std::move(info));
  return list;
}

std::vector<PipelineSlot> Pipeline::slots() const {
  std::vector<PipelineSlot> slots;
  for_each_slot(*data_, [&](const std::string& slot, const std::string& stage, const auto& parameters) {
    slots.push_back({slot, stage, {}});
    list_parameters(slot, parameters, slots.back().parameters);
  });
  return slots;
}

Pipeline Pipeline::from_slots(const std::string& method, const std::vector<PipelineSlot>& slots) {
  PipelineData data;
  data.method = method;
  for (const PipelineSlot& slot : slots) {
    const auto is = [&](const char* name, auto& stages) {
      if (slot.slot != name) return false;
      stages = required_stage<std::decay_t<decltype(stages)>>(slot.slot, slot.kind);
      return true;
    };
    std::variant<wta::Parameters> select;
    std::variant<RegionParameters> region;
    if (!is("prepare", data.prepare) && !is("cost", data.cost) && !is("aggregation", data.aggregation) &&
        !is("optimisation", data.optimisation) && !is("select", select) && !is("levels", data.levels) &&
        !is("roi", region))
      data.refinements.push_back({true, refinement_of(slot)});
  }
  Pipeline pipeline(std::move(data));
  for (const PipelineSlot& slot : slots)
    for (const ParameterInfo& parameter : slot.parameters) pipeline.set(parameter.name, parameter.value);
  return pipeline;
}

}  // namespace stereopsis
