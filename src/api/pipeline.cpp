#include "stereopsis/pipeline.hpp"

#include <optional>

#include "api/pipeline_slots.hpp"
#include "core/suggestion.hpp"
#include "methods/methods.hpp"
#include "stereopsis/stages.hpp"

namespace stereopsis {
namespace {

// Returns the names of the refinements that run, as a list for `refinements=`.
std::string refinement_list(const PipelineData& data) {
  std::vector<std::string> names;
  for (const StageChoice& stage : data.refinements)
    if (stage.enabled) names.push_back(stage.entry->name);
  return names.empty() ? "none" : join(names, ",");
}

std::vector<std::string> all_names(const PipelineData& data) {
  std::vector<std::string> names;
  for_each_slot(data, [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
    for (const std::string& prefix : slot == stage ? std::vector{slot} : std::vector{slot, stage})
      for (ParameterInfo& info : parameters_of(prefix, p, on)) names.push_back(std::move(info.name));
  });
  return names;
}

std::string own_name(std::string_view name) { return std::string(name.substr(name.find('.') + 1)); }

// Suggests a name that is similar to the whole name, or to its part after the dot. A name without a dot is such a part.
std::string suggestion_for(std::string_view name, const std::vector<std::string>& known) {
  if (std::string suggestion = did_you_mean(name, known); own_name(name) != name && !suggestion.empty())
    return suggestion;
  std::vector<std::string> own_names;
  for (const std::string& one : known) own_names.push_back(own_name(one));
  const std::string own = own_name(name), nearest = nearest_name(own, own_names);
  if (did_you_mean(own, {nearest}).empty()) return "";
  const auto found = std::ranges::find(own_names, nearest);
  return text(" (did you mean '", known[found - own_names.begin()], "'?)");
}

[[noreturn]] void refuse_name(const PipelineData& data, std::string_view name) {
  const std::string list = refinement_list(data);
  if (name.starts_with("refinement"))
    throw Error(ErrorCategory::call,
                text("there is no parameter '", name, "'; all refinements are one list: `--set refinements=",
                     list == "none" ? "" : list + ",", "NAME`"));
  throw Error(ErrorCategory::call,
              text("the method '", data.method, "' has no parameter '", name, "'",
                   suggestion_for(name, all_names(data)), "; `stereopsis methods ", data.method, "` lists all"));
}

// Throws Error(call) if the stage has a member that its slot does not allow.
void check(const UserStage& stage, const StageDescriptor& entry) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  if (stage.name.empty() || (!stage.cpu && !stage.gpu))
    refuse("a user-defined stage requires a name, and a function for the cpu or a GPU; set both");
  if (stage.takes && (entry.slot == Slot::cost || entry.slot == Slot::refinement))
    refuse(text("the stage '", stage.name, "' does not filter a volume, so `takes` has no effect; leave `takes` out"));
  if (entry.slot == Slot::refinement && (stage.makes != PixelType::u8 || stage.largest != 0))
    refuse(text("the stage '", stage.name,
                "' does not compute costs, so `makes` and `largest` have no effect; leave them out"));
  const double most =
      stage.makes == PixelType::f32 ? 1e30 : entry.facet<Costs>()->units(UserStage{.makes = stage.makes}).largest;
  if (!(stage.largest >= 0 && stage.largest <= most))
    refuse(text("the stage '", stage.name, "' has the largest cost ", stage.largest, "; for ", to_string(stage.makes),
                " costs it must be 0 to ", most));
}

}  // namespace

Pipeline::Pipeline(std::string_view method) : Pipeline(method_data(method)) {}
Pipeline::Pipeline(UserMethod method) : Pipeline(methods().front().name) {
  set("refinements", "none");
  set_method(std::move(method));
}
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
  const std::string_view prefix = name.substr(0, dot), own = name.substr(dot + 1);
  if (name == "refinements") {
    data_->refinements = refinements_of(value, data_->refinements);
    return find_image_makers(*data_);
  }
  if (const SlotOfOne* one = slot_of_one(prefix); one != nullptr && own == "stage") {
    data_.get()->*one->stage = stage_for(*one, value);
    return find_image_makers(*data_);
  }
  bool found = false;
  for_each_slot(*data_, [&](const std::string& slot, const std::string& stage, StageParameters& parameters, bool* on) {
    if (found || dot == std::string_view::npos || (prefix != slot && prefix != stage)) return;
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
  const std::string_view kind = slot == "plus" ? "cost" : slot;  // the slots that hold a matching cost
  const StageDescriptor* entry = slot == "method" ? nullptr : registry().find_own(text("user_", kind));
  if (entry == nullptr)
    throw Error(ErrorCategory::call, text("a user-defined stage cannot be in the slot '", slot,
                                          "'; the slot must be cost, plus, aggregation, optimisation or refinement"));
  check(stage, *entry);
  StageChoice choice(*entry);
  choice.parameters = std::move(stage);
  if (one != nullptr)
    data_.get()->*one->stage = std::move(choice);
  else
    data_->refinements.push_back(std::move(choice));
  find_image_makers(*data_);
}

void Pipeline::set_method(UserMethod method) {
  if (method.name.empty() || (!method.cpu && !method.gpu))
    throw Error(ErrorCategory::call,
                "a user-defined method requires a name, and a function for the cpu or a GPU; set both");
  PipelineData data;
  data.method = method.name;
  data.cost = StageChoice(registry().with<OwnMethod>());
  data.cost.parameters = std::move(method);
  data.prepare = data_->prepare;
  data.refinements = data_->refinements;
  data.confidence = data_->confidence;
  data.density = data_->density;
  data.region = data_->region;
  *this = Pipeline(std::move(data));
}

std::string Pipeline::get(std::string_view name) const {
  const std::size_t dot = name.find('.');
  if (const SlotOfOne* one = slot_of_one(name.substr(0, dot)); one != nullptr && name.substr(dot + 1) == "stage")
    return data_.get()->*one->stage ? (data_.get()->*one->stage).entry->name : "none";
  if (name == "refinements") return refinement_list(*data_);
  std::optional<std::string> value;
  for_each_slot(*data_,
                [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
                  for (const std::string& prefix : {slot, stage})
                    for (const ParameterInfo& info : parameters_of(prefix, p, on))
                      if (is_spelling_of(name, info.name) && !value) value = info.value;
                });
  if (!value) refuse_name(*data_, name);
  return *value;
}

template <TypedParameter T>
T Pipeline::get(std::string_view name) const {
  const std::string value = get(name);
  T typed{};
  if (!detail::parse_value(value, typed))
    throw Error(ErrorCategory::call, text("the parameter '", name, "' is ", value, ", which is not of the type ",
                                          detail::type_name<T>(), "; read it as std::string, or with its own type"));
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

// Returns the pipeline with the default parameters of its method, or of its stages if it is not a method. User-defined
// stages remain, because what they make decides which slots there are.
Pipeline defaults_of(const PipelineData& data) {
  PipelineData defaults = data;
  for (const SlotOfOne& one : slots_of_one)
    if (StageChoice& s = defaults.*one.stage; s && registry().find_own(s.entry->name) == nullptr)
      s = StageChoice(*s.entry);
  for (StageChoice& stage : defaults.refinements) stage = StageChoice(*stage.entry);
  for (StageChoice& image : defaults.images) image = StageChoice(*image.entry);
  defaults.summing = PipelineData().summing;
  defaults.quantising = PipelineData().quantising;
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

// Returns whether a stage with these parameters computes more than a confidence. Stages that change the shape of a
// pipeline have no ports.
bool changes_disparity(const StageDescriptor& stage, const StageParameters& parameters) {
  Ports ports = stage.ports(parameters, {});
  std::erase_if(ports, [](const Port& port) { return !writes(port.use); });
  return ports.empty() ||
         std::ranges::any_of(ports, [](const Port& port) { return port.name != std::string_view("confidence"); });
}

// Sets the properties of the slot's stage.
void describe_stage(const StageParameters& parameters, PipelineSlot& slot) {
  const StageDescriptor* own = registry().find_own(slot.kind);
  const StageDescriptor* stage = own != nullptr ? own : registry().find(slot.kind);
  slot.is_function = own != nullptr;
  slot.changes_disparity = stage != nullptr && changes_disparity(*stage, parameters);
  if (stage == nullptr) return;
  const auto* subpixels = stage->facet<Subpixels>();
  slot.computes_subpixels = subpixels != nullptr && subpixels->computes(parameters);
  slot.fills = stage->facet<Fills>() != nullptr;
  slot.keeps_invalid = stage->facet<KeepsInvalid>() != nullptr;
}

std::vector<PipelineSlot> slots_of(const PipelineData& data) {
  std::vector<PipelineSlot> slots;
  for_each_slot(data, [&](const std::string& slot, const std::string& stage, const StageParameters& p, const bool* on) {
    slots.push_back({slot, stage, parameters_of(slot, p, on), on != nullptr, on == nullptr || *on});
    describe_stage(p, slots.back());
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
  PipelineData data = only_selection();
  data.method = method;
  for (const PipelineSlot& slot : slots) {
    if (const SlotOfOne* one = slot_of_one(slot.slot))
      data.*one->stage = stage_for(*one, slot.kind);
    else if (slot.slot != RegionParameters::stage && slot.slot != registry().with<Quantisation>().name &&
             slot.slot != registry().with<Summation>().name && !makes_image(slot.slot))
      data.refinements.push_back(refinement_of(slot.slot));
  }
  Pipeline pipeline(std::move(data));
  for (const PipelineSlot& slot : slots)
    for (const ParameterInfo& parameter : slot.parameters) pipeline.set(parameter.name, parameter.value);
  return pipeline;
}

}  // namespace stereopsis