// The slots of a pipeline by their names, for Pipeline's functions.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "core/text.hpp"
#include "graph/pipeline.hpp"

namespace stereopsis {

// Returns the slot of this name, which holds one stage; null if there is no such slot.
const SlotOfOne* slot_of_one(std::string_view name);
// Returns the names of the stages that may fill a slot.
std::vector<std::string> choices_of(const SlotOfOne& slot);
// Returns the stage of that name for a slot. Throws Error(call) for an unknown name.
StageChoice stage_for(const SlotOfOne& slot, std::string_view name);
StageChoice refinement_of(std::string_view name);
// Returns the refinements with these names, in the given order. Refinements that exist already keep their parameters;
// all are switched on.
std::vector<StageChoice> refinements_of(std::string_view names, std::vector<StageChoice> before);

// Returns whether a stage of that name computes an image for other stages, and has parameters. A pipeline includes such
// a stage if one of its stages reads the image.
bool makes_image(std::string_view name);
void find_image_makers(PipelineData& data);

// The switch of a refinement: a parameter in addition to those of its stage.
struct Switch {
  bool enabled = true;

  static void describe(auto& p, auto&& visit) { visit("enabled", p.enabled, any, "run this refinement"); }
};
// Calls f(slot, stage, parameters, enabled) for every filled slot, in the order of the taxonomy; `enabled` is null
// except for refinements. The slot of a refinement is the name of its stage, followed by a number from the second of
// this name on: median, median2.
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
  const std::string &sum = registry().with<Summation>().name, &quantise = registry().with<Quantisation>().name,
                    region = RegionParameters::stage;
  if (data.plus) f(sum, sum, data.summing, Flag{});
  if (may_quantise(data)) f(quantise, quantise, data.quantising, Flag{});
  if (takes_margin(data)) f(region, region, data.region, Flag{});
}

// Returns the parameters of a stage with their values; `enabled` is null except for refinements.
std::vector<ParameterInfo> parameters_of(const std::string& prefix, const StageParameters& parameters,
                                         const bool* enabled);

}  // namespace stereopsis
