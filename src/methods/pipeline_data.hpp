// The typed form of a pipeline: the slots of the taxonomy, each with the stage that fills it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/parameters.hpp"
#include "stages/asw/asw.hpp"
#include "stages/asw_separable/asw_separable.hpp"
#include "stages/census/census.hpp"
#include "stages/census_gradient/census_gradient.hpp"
#include "stages/colour_difference/colour_difference.hpp"
#include "stages/colour_gradient/colour_gradient.hpp"
#include "stages/confidence/confidence.hpp"
#include "stages/cross_scale/cross_scale.hpp"
#include "stages/esaw/esaw.hpp"
#include "stages/fill/fill.hpp"
#include "stages/guided/guided.hpp"
#include "stages/left_right/left_right.hpp"
#include "stages/median/median.hpp"
#include "stages/propagation/propagation.hpp"
#include "stages/pyramid/pyramid.hpp"
#include "stages/rank/rank.hpp"
#include "stages/reduce/reduce.hpp"
#include "stages/repair/repair.hpp"
#include "stages/sgm/sgm.hpp"
#include "stages/speckle/speckle.hpp"
#include "stages/weighted_median/weighted_median.hpp"
#include "stages/window_sad/window_sad.hpp"
#include "stages/wta/wta.hpp"
#include "stages/zncc/zncc.hpp"

namespace stereopsis {

// A slot that a method leaves empty.
struct None {
  static constexpr const char* stage = "none";
};
template <class P, class Visitor>
  requires ParametersOf<P, None>
void describe(P&, Visitor&&) {}

using Prepare = std::variant<None, reduce::Parameters>;
using Cost = std::variant<rank::Parameters, census::Parameters, census_gradient::Parameters, window_sad::Parameters,
                          zncc::Parameters, colour_gradient::Parameters, colour_difference::Parameters>;
using Aggregation =
    std::variant<None, guided::Parameters, esaw::Parameters, asw_separable::Parameters, asw::Parameters>;
using Optimisation = std::variant<None, sgm::Parameters>;
using Levels = std::variant<None, pyramid::Parameters, cross_scale::Parameters>;

struct Refinement {
  bool enabled = true;
  std::variant<left_right::Parameters, speckle::Parameters, fill::Parameters, median::Parameters,
               weighted_median::Parameters, confidence::Parameters, repair::Parameters, propagation::Parameters>
      stage;
};

// How a region of interest is computed where a pixel may depend on the whole image: by semi-global matching, fills, speckles.
struct RegionParameters {
  static constexpr const char* stage = "region";
  int margin = 64;
};
template <class P, class Visitor>
  requires ParametersOf<P, RegionParameters>
void describe(P& p, Visitor&& visit) {
  visit("margin", p.margin, between(0, 1000000),
        "pixels around a region of interest that stages take into account which see the whole image");
}

struct PipelineData {
  std::string method = "custom";
  Prepare prepare;
  Cost cost;
  Aggregation aggregation;
  Optimisation optimisation;
  wta::Parameters select;
  Levels levels;
  std::vector<Refinement> refinements;  // in their order
  RegionParameters region;
};

// A refinement's parameters with its switch among them: NAME.enabled.
template <class Stage>
struct Switched {
  std::conditional_t<std::is_const_v<Stage>, const bool, bool>& enabled;
  Stage& stage;
};
template <class Stage, class Visitor>
void describe(const Switched<Stage>& p, Visitor&& visit) {
  visit("enabled", p.enabled, any, "whether this refinement runs");
  describe(p.stage, visit);
}

// Whether some stage of the pipeline, switched on or off, has no finite required input. Guided filters, whose windows reach
// far, take all that theirs need.
inline bool takes_margin(const PipelineData& data) {
  if (std::holds_alternative<guided::Parameters>(data.aggregation)) return false;
  return !std::holds_alternative<None>(data.optimisation) ||
         std::any_of(data.refinements.begin(), data.refinements.end(), [](const Refinement& r) {
           return std::holds_alternative<speckle::Parameters>(r.stage) ||
                  std::holds_alternative<fill::Parameters>(r.stage) ||
                  std::holds_alternative<propagation::Parameters>(r.stage);
         });
}

// Calls f(slot, stage, parameters) for every slot that is not empty, in the order of the taxonomy. A refinement's slot
// is its stage's name, with a number from the second of its kind on: median, median2.
template <class Data, class F>
  requires ParametersOf<Data, PipelineData>
void for_each_slot(Data& data, F&& f) {
  const auto slot = [&](const char* name, auto& stages) {
    std::visit(
        [&]<class P>(P& p) {
          if constexpr (!std::is_same_v<const P, const None>) f(name, P::stage, p);
        },
        stages);
  };
  slot("prepare", data.prepare);
  slot("cost", data.cost);
  slot("aggregation", data.aggregation);
  slot("optimisation", data.optimisation);
  f("select", wta::Parameters::stage, data.select);
  slot("levels", data.levels);
  std::vector<std::string> seen;
  for (auto& refinement : data.refinements)
    std::visit(
        [&]<class P>(P& p) {
          const std::string name = P::stage;
          const auto before = std::count(seen.begin(), seen.end(), name);
          seen.push_back(name);
          const Switched<P> switched{refinement.enabled, p};
          f(before == 0 ? name : text(name, before + 1), P::stage, switched);
        },
        refinement.stage);
  if (takes_margin(data)) f("roi", RegionParameters::stage, data.region);
}

// The methods' definitions: methods.cpp.
PipelineData method_data(std::string_view name);

}  // namespace stereopsis
