// A pipeline: the slots of the taxonomy, each with the stage that fills it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/registry.hpp"

namespace stereopsis {

struct StageChoice {
  const StageDescriptor* entry = nullptr;  // null if the slot is empty
  StageParameters parameters;
  bool enabled = true;  // only refinements can be switched off

  StageChoice() = default;
  explicit StageChoice(const StageDescriptor& e) : entry(&e), parameters(e.parameters) {}
  // Finds the stage by the type of its parameters, which has the name of the stage.
  template <class P>
    requires requires { P::stage; }
  StageChoice(P p, bool enabled_ = true)
      : entry(&registry().at(P::stage)), parameters(std::move(p)), enabled(enabled_) {}

  explicit operator bool() const { return entry != nullptr; }
  bool is(std::string_view name) const { return entry != nullptr && entry->name == name; }
  // Returns the facet of the stage; null if the stage has no such facet, or the slot is empty.
  template <class F>
  const F* facet() const {
    return entry == nullptr ? nullptr : entry->facet<F>();
  }
  template <class P>
  const P* get_if() const {
    return parameters.get_if<P>();
  }
};

// Parameters for computing a region of interest with stages in which a pixel may depend on the whole image: semi-global
// matching, fills, the speckle filter.
struct RegionParameters {
  static constexpr const char* stage = "region";
  int margin = 64;

  static void describe(auto& p, auto&& visit) {
    visit("margin", p.margin, between(0, 1000000).in("pixels").planned(),
          "margin around a region of interest, for stages that depend on the whole image");
  }
};

struct PipelineData {
  std::string method = "custom";
  StageChoice prepare, cost, plus, seeds, aggregation, optimisation, select, second_pass, levels;
  std::vector<StageChoice> refinements;  // refinements, in order
  // Confidence of the refined map; if this slot is empty, the confidence is that of the selection.
  StageChoice confidence;
  // This stage decides by the confidence which pixels are measured; an empty slot leaves that to the refinements.
  StageChoice density;
  std::vector<StageChoice> images;  // parameterised stages that derive images for other stages
  StageParameters region = RegionParameters{};

  const StageParameters& parameters_of(const StageDescriptor& maker) const {
    for (const StageChoice& image : images)
      if (image.entry == &maker) return image.parameters;
    return maker.parameters;
  }
  // Parameters for converting costs to 8-bit integers, if a stage requires 8 bits.
  StageParameters quantising = registry().with<Quantisation>().parameters;
  // Parameters for adding the costs of `cost` and `plus`.
  StageParameters summing = registry().with<Summation>().parameters;

  int margin() const { return region.as<RegionParameters>().margin; }
};

struct SlotOfOne {
  Slot slot;
  const char* name;
  StageChoice PipelineData::*stage;
};
// The slots that hold exactly one stage, in the order of the taxonomy.
inline constexpr SlotOfOne slots_of_one[] = {{Slot::prepare, "prepare", &PipelineData::prepare},
                                             {Slot::cost, "cost", &PipelineData::cost},
                                             {Slot::cost, "plus", &PipelineData::plus},
                                             {Slot::seeds, "seeds", &PipelineData::seeds},
                                             {Slot::aggregation, "aggregation", &PipelineData::aggregation},
                                             {Slot::optimisation, "optimisation", &PipelineData::optimisation},
                                             {Slot::select, "select", &PipelineData::select},
                                             {Slot::second_pass, "second_pass", &PipelineData::second_pass},
                                             {Slot::levels, "levels", &PipelineData::levels},
                                             {Slot::confidence, "confidence", &PipelineData::confidence},
                                             {Slot::density, "density", &PipelineData::density}};

// Returns whether the pipeline has a stage, switched on or off, without a finite required input. Filters with large
// windows read all pixels of their windows.
bool takes_margin(const PipelineData&);
// Returns whether costs may have to be converted to 8-bit integers, because a stage does not accept the type or the
// largest cost of the previous stage.
bool may_quantise(const PipelineData&);
// Returns whether costs of this type, such as those of a given volume, may have to be converted.
bool may_quantise(const PipelineData&, Element made);
// Returns the matching cost of two words, if the matching cost compares feature words.
inline WordCost word_cost_of(const StageChoice& cost) {
  const auto* words = cost.facet<WordCosts>();
  return words == nullptr ? WordCost() : words->cost(cost.parameters);
}
// Returns the use of an input by the stages of the pipeline, or no value if none reads it.
std::optional<Port::Use> use_of(const PipelineData&, std::string_view input);
// Returns whether the check of seeded pixels follows the refinements.
bool checks_seeds(const PipelineData&);

// Returns whether filtered volumes of words are computed for some rows at a time, with the selection after each tile.
inline bool uses_row_tiles(const PipelineData& p) {
  return p.aggregation.facet<RowTiles>() != nullptr && !p.optimisation && !p.plus && !p.seeds &&
         p.cost.facet<WordCosts>() != nullptr;
}

// Returns the reduction of a pipeline whose stage of the slot `prepare` changes the size of images, or null if there is
// none.
inline const Reduction* reduction_of(const PipelineData& p) {
  const Reduction* reduction = p.prepare.facet<Reduction>();
  return reduction != nullptr && reduction->factor(p.prepare.parameters) > 1 ? reduction : nullptr;
}
// Returns the width and height, in pixels of the input, of one pixel of the matched images.
inline int reduction_factor(const PipelineData& p) {
  const Reduction* reduction = reduction_of(p);
  return reduction == nullptr ? 1 : reduction->factor(p.prepare.parameters);
}
// Return the size of the maps for images of this size, and the width and height of a pixel of the maps, in pixels of
// the input.
inline Size output_size(const PipelineData& p, Size input) {
  const Reduction* reduction = reduction_of(p);
  return reduction == nullptr ? input : reduction->output_size(p.prepare.parameters, input);
}
inline int output_factor(const PipelineData& p) {
  const Reduction* reduction = reduction_of(p);
  return reduction == nullptr ? 1 : reduction->output_factor(p.prepare.parameters);
}

}  // namespace stereopsis
