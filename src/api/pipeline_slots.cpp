#include "api/pipeline_slots.hpp"

#include <utility>

#include "core/suggestion.hpp"

namespace stereopsis {
namespace {

// Returns the name of the stage: "median2" is the second median.
std::string without_number(const std::string& slot) { return slot.substr(0, slot.find_last_not_of("0123456789") + 1); }

bool may_be_empty(const SlotOfOne& s) { return s.slot != Slot::select && s.stage != &PipelineData::cost; }

}  // namespace

std::vector<std::string> choices_of(const SlotOfOne& slot) {
  std::vector<std::string> names = registry().names(slot.slot);
  if (slot.stage == &PipelineData::plus)
    std::erase_if(names, [](const std::string& name) { return registry().at(name).facet<GivenCosts>() != nullptr; });
  if (may_be_empty(slot)) names.emplace_back("none");
  return names;
}

StageChoice stage_for(const SlotOfOne& slot, std::string_view name) {
  if (may_be_empty(slot) && name == "none") return {};
  const std::vector<std::string> choices = choices_of(slot);
  // The slot's name may be left out: confidence.stage=learned.
  for (const std::string& full : {std::string(name), text(name, "_", slot.name)})
    if (std::ranges::count(choices, full) > 0) return StageChoice(registry().at(full));
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

const SlotOfOne* slot_of_one(std::string_view name) {
  const auto found = std::find_if(std::begin(slots_of_one), std::end(slots_of_one),
                                  [&](const SlotOfOne& slot) { return name == slot.name; });
  return found == std::end(slots_of_one) ? nullptr : found;
}

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

std::vector<ParameterInfo> parameters_of(const std::string& prefix, const StageParameters& parameters,
                                         const bool* enabled) {
  std::vector<ParameterInfo> list;
  if (enabled != nullptr) list_parameters(prefix, Switch{*enabled}, list);
  for (ParameterInfo& info : parameters.list(prefix)) list.push_back(std::move(info));
  return list;
}

}  // namespace stereopsis
