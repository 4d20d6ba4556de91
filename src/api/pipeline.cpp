#include "stereopsis/pipeline.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/parameters.hpp"
#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "program/pipeline_data.hpp"
#include "program/user_stage.hpp"
#include "stages/volume/volume.hpp"
#include "stages/wta/wta.hpp"
#include "stereopsis/stages.hpp"

namespace stereopsis {
namespace {

// "median2" is the second median.
std::string without_number(const std::string& slot) { return slot.substr(0, slot.find_last_not_of("0123456789") + 1); }

bool may_be_empty(const SlotOfOne& slot) {
  return slot.stage != &PipelineData::cost && slot.stage != &PipelineData::select;
}

std::vector<std::string> choices_of(const SlotOfOne& slot) {
  std::vector<std::string> names = registry().names(slot.slot);
  if (slot.stage == &PipelineData::plus) std::erase(names, volume::Parameters::stage);  // it is the cost itself
  if (may_be_empty(slot)) names.emplace_back("none");
  return names;
}

// The stage of that name for a slot of one.
StageChoice stage_for(const SlotOfOne& slot, std::string_view name) {
  if (may_be_empty(slot) && name == "none") return {};
  const std::vector<std::string> choices = choices_of(slot);
  if (std::ranges::count(choices, name) > 0) return StageChoice(registry().at(name));
  throw Error(ErrorCategory::call, text("there is no stage '", name, "' for the slot '", slot.name, "'",
                                        did_you_mean(name, choices), "; it can be ", join(choices, ", ")));
}

StageChoice refinement_of(std::string_view name) {
  const StageDescriptor* entry = registry().find(without_number(std::string(name)));
  if (entry != nullptr && entry->slot == Slot::refinement) return StageChoice(*entry);
  std::vector<std::string> names{RegionParameters::stage};
  for (const SlotOfOne& one : slots_of_one) names.emplace_back(one.name);
  for (std::string& stage : registry().names(Slot::refinement)) names.push_back(std::move(stage));
  throw Error(ErrorCategory::call, text("a pipeline has no slot '", name, "'", did_you_mean(name, names),
                                        "; it can have ", join(names, ", ")));
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
  for (auto& image : data.images) f(image.entry->name, image.entry->name, image.parameters, Flag{});
  const std::string sum = sum::Parameters::stage, quantise = quantise::Parameters::stage,
                    region = RegionParameters::stage;
  if (data.plus) f(sum, sum, data.summing, Flag{});
  if (may_quantise(data)) f(quantise, quantise, data.quantising, Flag{});
  if (takes_margin(data)) f(region, region, data.region, Flag{});
}

std::vector<ParameterInfo> parameters_of(const std::string& prefix, const StageParameters& parameters,
                                         const bool* enabled) {
  std::vector<ParameterInfo> list;
  if (enabled != nullptr) list_parameters(prefix, Switch{*enabled}, list);
  for (ParameterInfo& info : parameters.list(prefix)) list.push_back(std::move(info));
  return list;
}

// Whether `prefix` names this slot: by the slot, or by the stage in it.
bool is_named(std::string_view prefix, std::string_view slot, std::string_view stage) {
  return prefix == slot || prefix == stage;
}

const SlotOfOne* slot_of_one(std::string_view name) {
  const auto found = std::find_if(std::begin(slots_of_one), std::end(slots_of_one),
                                  [&](const SlotOfOne& slot) { return name == slot.name; });
  return found == std::end(slots_of_one) ? nullptr : found;
}

// The refinements of these names in their order; those that were there keep their parameters, and all are switched on.
std::vector<StageChoice> refinements_of(std::string_view names, std::vector<StageChoice> before) {
  std::vector<StageChoice> list;
  for (const std::string& name : names.empty() || names == "none" ? std::vector<std::string>() : split(names, ',')) {
    const auto same =
        std::ranges::find_if(before, [&, kind = without_number(name)](const StageChoice& b) { return b.is(kind); });
    StageChoice stage = same != before.end() ? std::move(*same) : refinement_of(name);
    if (same != before.end()) before.erase(same);
    stage.enabled = true;
    list.push_back(std::move(stage));
  }
  return list;
}

std::vector<std::string> all_names(const PipelineData& data) {
  std::vector<std::string> names;
  for_each_slot(data, [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
    for (const std::string& prefix : slot == stage ? std::vector{slot} : std::vector{slot, stage})
      for (ParameterInfo& info : parameters_of(prefix, p, on)) names.push_back(std::move(info.name));
  });
  return names;
}

// Whether it is an entry that makes images, with parameters: pipelines have those whose images a stage of theirs reads.
bool makes_image(std::string_view name) {
  const StageDescriptor* entry = registry().find(name);
  return entry != nullptr && entry->slot == Slot::image && !entry->parameters.list(name).empty();
}

void find_image_makers(PipelineData& data) {
  const std::vector<StageChoice> before = std::exchange(data.images, {});
  const auto add_makers = [&](const StageChoice& stage) {
    if (!stage) return;
    for (const Port& port : stage.entry->ports(stage.parameters, {})) {
      const auto is_it = [&](const StageChoice& image) { return image.is(port.name); };
      if (!makes_image(port.name) || std::ranges::any_of(data.images, is_it)) continue;
      const auto same = std::ranges::find_if(before, is_it);
      data.images.push_back(same != before.end() ? *same : StageChoice(registry().at(port.name)));
    }
  };
  for (const SlotOfOne& one : slots_of_one) add_makers(data.*one.stage);
  for (const StageChoice& refinement : data.refinements) add_makers(refinement);
}

std::string own_name(std::string_view name) { return std::string(name.substr(name.find('.') + 1)); }

// Suggests a name that is near to the whole name, or to its part after the dot.
std::string suggestion_for(std::string_view name, const std::vector<std::string>& known) {
  if (std::string suggestion = did_you_mean(name, known); !suggestion.empty()) return suggestion;
  std::vector<std::string> own_names;
  for (const std::string& one : known) own_names.push_back(own_name(one));
  const std::string own = own_name(name), nearest = nearest_name(own, own_names);
  if (did_you_mean(own, {nearest}).empty()) return "";
  const auto found = std::ranges::find(own_names, nearest);
  return text(" (did you mean '", known[found - own_names.begin()], "'?)");
}

[[noreturn]] void refuse_name(const PipelineData& data, std::string_view name) {
  throw Error(ErrorCategory::call,
              text("the method '", data.method, "' has no parameter '", name, "'",
                   suggestion_for(name, all_names(data)), "; `stereopsis methods ", data.method, "` lists all"));
}

}  // namespace

Pipeline::Pipeline(std::string_view method) : Pipeline(method_data(method)) {}
Pipeline::Pipeline(PipelineData data) : data_(std::make_unique<PipelineData>(std::move(data))) {
  find_image_makers(*data_);
}
Pipeline::~Pipeline() = default;
Pipeline::Pipeline(const Pipeline& other) : data_(std::make_unique<PipelineData>(*other.data_)) {}
Pipeline& Pipeline::operator=(const Pipeline& other) { return *this = Pipeline(other); }
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

const std::string& Pipeline::method() const { return data_->method; }

void Pipeline::set(std::string_view name, std::string_view value) {
  const std::size_t dot = name.find('.');
  if (name == "refinements") {
    data_->refinements = refinements_of(value, data_->refinements);
    return find_image_makers(*data_);
  }
  if (const SlotOfOne* one = slot_of_one(name.substr(0, dot)); one != nullptr && name.substr(dot + 1) == "stage") {
    data_.get()->*one->stage = stage_for(*one, value);
    return find_image_makers(*data_);
  }
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

void Pipeline::set_stage(std::string_view slot, UserStage stage) {
  const SlotOfOne* one = slot_of_one(slot);
  const StageDescriptor* entry = user_stage::entry_of(one != nullptr ? one->slot : Slot::refinement);
  if ((one == nullptr && slot != "refinement") || entry == nullptr)
    throw Error(ErrorCategory::call, text("a stage of one's own has no place in the slot '", slot,
                                          "'; it can be cost, plus, aggregation, optimisation or refinement"));
  user_stage::check(stage, entry->slot);
  StageChoice choice(*entry);
  choice.parameters = std::move(stage);
  if (one != nullptr)
    data_.get()->*one->stage = std::move(choice);
  else
    data_->refinements.push_back(std::move(choice));
  find_image_makers(*data_);
}

std::string Pipeline::get(std::string_view name) const {
  const std::size_t dot = name.find('.');
  if (const SlotOfOne* one = slot_of_one(name.substr(0, dot)); one != nullptr && name.substr(dot + 1) == "stage")
    return data_.get()->*one->stage ? (data_.get()->*one->stage).entry->name : "none";
  if (name == "refinements") {
    std::vector<std::string> names;
    for (const StageChoice& stage : data_->refinements)
      if (stage.enabled) names.push_back(stage.entry->name);
    return names.empty() ? "none" : join(names, ",");
  }
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

template <TypedParameter T>
T Pipeline::get(std::string_view name) const {
  const std::string value = get(name);
  T typed{};
  if (!detail::parse_value(value, typed))
    throw Error(ErrorCategory::call, text("the parameter '", name, "' is ", value, ", which is no ",
                                          detail::type_name<T>(), "; read it as a text, or as what it is"));
  return typed;
}
template bool Pipeline::get(std::string_view) const;
template int Pipeline::get(std::string_view) const;
template double Pipeline::get(std::string_view) const;
template std::vector<double> Pipeline::get(std::string_view) const;

std::string detail::parameter_text(bool flag) { return value_text(flag); }
std::string detail::parameter_text(long long number) { return std::to_string(number); }
std::string detail::parameter_text(double number) { return value_text(number); }
std::string detail::parameter_text(const std::vector<double>& numbers) { return value_text(numbers); }

namespace {

// The method's own parameters, or, where a pipeline is none of the methods, what its stages begin with.
Pipeline defaults_of(const PipelineData& data) {
  PipelineData defaults = data;
  for (const SlotOfOne& one : slots_of_one)
    if (StageChoice& stage = defaults.*one.stage) stage = StageChoice(*stage.entry);
  for (StageChoice& stage : defaults.refinements) stage = StageChoice(*stage.entry);
  for (StageChoice& image : defaults.images) image = StageChoice(*image.entry);
  defaults.summing = sum::Parameters{};
  defaults.quantising = quantise::Parameters{};
  defaults.region = RegionParameters{};
  const auto& known = methods();
  if (std::none_of(known.begin(), known.end(), [&](const MethodInfo& m) { return m.name == data.method; }))
    return Pipeline(std::move(defaults));
  const PipelineData method = method_data(data.method);
  for (const SlotOfOne& one : slots_of_one)
    if ((method.*one.stage).entry == (data.*one.stage).entry) defaults.*one.stage = method.*one.stage;
  if (method.plus) defaults.summing = method.summing;
  const auto is_same = [](const StageChoice& a, const StageChoice& b) { return a.entry == b.entry; };
  if (std::ranges::equal(method.refinements, data.refinements, is_same)) defaults.refinements = method.refinements;
  return Pipeline(std::move(defaults));
}

std::vector<PipelineSlot> slots_of(const PipelineData& data) {
  std::vector<PipelineSlot> slots;
  for_each_slot(data, [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
    slots.push_back({slot, stage, parameters_of(slot, p, on), on != nullptr});
  });
  return slots;
}

}  // namespace

std::vector<ParameterInfo> Pipeline::parameters() const {
  std::vector<ParameterInfo> list;
  for (PipelineSlot& slot : slots())
    for (ParameterInfo& info : slot.parameters) list.push_back(std::move(info));
  return list;
}

std::vector<PipelineSlot> Pipeline::slots() const {
  std::vector<PipelineSlot> slots = slots_of(*data_);
  const std::vector<PipelineSlot> defaults = slots_of(defaults_of(*data_).data());
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (std::size_t j = 0; j < slots[i].parameters.size(); ++j)
      slots[i].parameters[j].default_value = defaults[i].parameters[j].value;
  return slots;
}

std::vector<SlotChoices> slot_choices() {
  std::vector<SlotChoices> choices;
  for (const SlotOfOne& slot : slots_of_one) choices.push_back({slot.name, choices_of(slot)});
  choices.push_back({"refinements", registry().names(Slot::refinement)});
  return choices;
}

Pipeline Pipeline::from_slots(const std::string& method, const std::vector<PipelineSlot>& slots) {
  PipelineData data;
  data.method = method;
  data.select = wta::Parameters{};
  for (const PipelineSlot& slot : slots) {
    if (const SlotOfOne* one = slot_of_one(slot.slot))
      data.*one->stage = stage_for(*one, slot.kind);
    else if (slot.slot != RegionParameters::stage && slot.slot != quantise::Parameters::stage &&
             slot.slot != sum::Parameters::stage && !makes_image(slot.slot))
      data.refinements.push_back(refinement_of(slot.slot));
  }
  Pipeline pipeline(std::move(data));
  for (const PipelineSlot& slot : slots)
    for (const ParameterInfo& parameter : slot.parameters) pipeline.set(parameter.name, parameter.value);
  return pipeline;
}

}  // namespace stereopsis
