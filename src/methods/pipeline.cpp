#include "stereopsis/pipeline.hpp"

#include <algorithm>
#include <optional>

#include "core/text.hpp"
#include "program/pipeline_data.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {
namespace {

// "median2" is the second median.
std::string without_number(const std::string& slot) { return slot.substr(0, slot.find_last_not_of("0123456789") + 1); }

StageChoice required_stage(const std::string& slot, Slot kind, const std::string& name) {
  const Entry* entry = registry().find(name);
  if (entry != nullptr && entry->slot == kind) return StageChoice(*entry);
  throw Error(ErrorCategory::call, text("there is no stage '", name, "' for the slot '", slot, "'; it can be ",
                                        join(registry().names(kind), ", ")));
}

StageChoice refinement_of(const PipelineSlot& slot) {
  const Entry* entry = registry().find(without_number(slot.slot));
  if (entry != nullptr && entry->slot == Slot::refinement) return StageChoice(*entry);
  std::vector<std::string> names{"roi"};
  for (const SlotOfOne& one : slots_of_one) names.emplace_back(one.name);
  for (std::string& stage : registry().names(Slot::refinement)) names.push_back(std::move(stage));
  throw Error(ErrorCategory::call,
              text("a pipeline has no slot '", slot.slot, "'; the nearest is '", nearest_name(slot.slot, names), "'"));
}

// A switch of a refinement, as a parameter beside its stage's own.
struct Switch {
  bool enabled = true;
};
template <class P, class Visitor>
  requires ParametersOf<P, Switch>
void describe(P& p, Visitor&& visit) { visit("enabled", p.enabled, any, "whether this refinement runs"); }

// Calls f(slot, stage, parameters, enabled) for every slot that is not empty, in the order of the taxonomy; `enabled` is null
// but for refinements. A refinement's slot is its stage's name, with a number from the second of its kind on: median, median2.
template <class Data, class F>
void for_each_slot(Data& data, F&& f) {
  for (const SlotOfOne& one : slots_of_one)
    if (auto& stage = data.*one.stage)
      f(std::string(one.name), stage.entry->name, stage.parameters, decltype(&stage.enabled){});
  std::vector<std::string> seen;
  for (auto& stage : data.refinements) {
    const std::string& name = stage.entry->name;
    const auto before = std::count(seen.begin(), seen.end(), name);
    seen.push_back(name);
    f(before == 0 ? name : text(name, before + 1), name, stage.parameters, &stage.enabled);
  }
  using Flag = std::conditional_t<std::is_const_v<Data>, const bool*, bool*>;
  if (takes_margin(data)) f(std::string("roi"), std::string(RegionParameters::stage), data.region, Flag{});
}

std::vector<ParameterInfo> parameters_of(const std::string& prefix, const StageParameters& parameters,
                                         const bool* enabled) {
  std::vector<ParameterInfo> list;
  if (enabled != nullptr) list_parameters(prefix, Switch{*enabled}, list);
  for (ParameterInfo& info : parameters.list(prefix)) list.push_back(std::move(info));
  return list;
}

// Whether `prefix` names this slot: by the slot, or by the stage in it where only one slot has that stage.
bool is_named(std::string_view prefix, std::string_view slot, std::string_view stage) {
  return prefix == slot || prefix == stage;
}

std::vector<std::string> all_names(const PipelineData& data) {
  std::vector<std::string> names;
  for_each_slot(data, [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
    for (const std::string& prefix : slot == stage ? std::vector{slot} : std::vector{slot, stage})
      for (ParameterInfo& info : parameters_of(prefix, p, on)) names.push_back(std::move(info.name));
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
  for_each_slot(*data_, [&](const std::string& slot, const std::string& stage, StageParameters& parameters, bool* on) {
    if (found || dot == std::string_view::npos || !is_named(name.substr(0, dot), slot, stage)) return;
    const std::string_view prefix = name.substr(0, dot), own = name.substr(dot + 1);
    Switch flag{on != nullptr && *on};
    if (on != nullptr && set_parameter(prefix, flag, own, value)) {
      *on = flag.enabled;
      found = true;
    } else {
      found = parameters.set(prefix, own, value);
    }
  });
  if (!found) refuse_name(*data_, name);
}

std::string Pipeline::get(std::string_view name) const {
  std::optional<std::string> value;
  for_each_slot(*data_,
                [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
                  for (const std::string& prefix : {slot, stage})
                    for (const ParameterInfo& info : parameters_of(prefix, p, on))
                      if (info.name == name && !value) value = info.value;
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
  for_each_slot(*data_,
                [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
                  slots.push_back({slot, stage, parameters_of(slot, p, on)});
                });
  return slots;
}

Pipeline Pipeline::from_slots(const std::string& method, const std::vector<PipelineSlot>& slots) {
  PipelineData data;
  data.method = method;
  data.select = wta::Parameters{};
  for (const PipelineSlot& slot : slots) {
    const auto one = std::find_if(std::begin(slots_of_one), std::end(slots_of_one),
                                  [&](const SlotOfOne& s) { return slot.slot == s.name; });
    if (one != std::end(slots_of_one))
      data.*one->stage = required_stage(slot.slot, one->slot, slot.kind);
    else if (slot.slot != "roi")
      data.refinements.push_back(refinement_of(slot));
  }
  Pipeline pipeline(std::move(data));
  for (const PipelineSlot& slot : slots)
    for (const ParameterInfo& parameter : slot.parameters) pipeline.set(parameter.name, parameter.value);
  return pipeline;
}

}  // namespace stereopsis
