// The typed form of a pipeline: the slots of the taxonomy, each with the stage that fills it.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/parameters.hpp"
#include "stages/census/census.hpp"
#include "stages/census_gradient/census_gradient.hpp"
#include "stages/fill/fill.hpp"
#include "stages/left_right/left_right.hpp"
#include "stages/median/median.hpp"
#include "stages/rank/rank.hpp"
#include "stages/sgm/sgm.hpp"
#include "stages/speckle/speckle.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {

using Cost = std::variant<rank::Parameters, census::Parameters, census_gradient::Parameters>;

struct Refinement {
  bool enabled = true;
  std::variant<left_right::Parameters, speckle::Parameters, fill::Parameters, median::Parameters> stage;
};

// How a region of interest is computed.
struct RegionParameters {
  int margin = 64;
};
template <class P, class Visitor>
  requires ParametersOf<P, RegionParameters>
void describe(P& p, Visitor&& visit) {
  visit("margin", p.margin, between(0, 1000000), "pixels around a region of interest that semi-global matching takes into account");
}

struct PipelineData {
  std::string method = "custom";
  Cost cost;
  sgm::Parameters optimisation;
  wta::Parameters select;
  std::vector<Refinement> refinements;  // in their order
  RegionParameters region;
};

// The name of a stage, as JSON and --set take it.
template <class P>
constexpr const char* stage_name() {
  if constexpr (std::is_same_v<P, rank::Parameters>) return "rank";
  else if constexpr (std::is_same_v<P, census::Parameters>) return "census";
  else if constexpr (std::is_same_v<P, census_gradient::Parameters>) return "census_gradient";
  else if constexpr (std::is_same_v<P, sgm::Parameters>) return "sgm";
  else if constexpr (std::is_same_v<P, wta::Parameters>) return "winner_takes_all";
  else if constexpr (std::is_same_v<P, left_right::Parameters>) return "left_right";
  else if constexpr (std::is_same_v<P, speckle::Parameters>) return "speckle";
  else if constexpr (std::is_same_v<P, fill::Parameters>) return "fill";
  else if constexpr (std::is_same_v<P, median::Parameters>) return "median";
  else return "region";
}

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

// Calls f(slot, stage, parameters) for every slot, in the order of the taxonomy. A refinement's slot is its stage's
// name, with a number from the second of its kind on: median, median2.
template <class Data, class F>
  requires ParametersOf<Data, PipelineData>
void for_each_slot(Data& data, F&& f) {
  std::visit([&]<class P>(P& p) { f("cost", stage_name<std::remove_const_t<P>>(), p); }, data.cost);
  f("optimisation", stage_name<sgm::Parameters>(), data.optimisation);
  f("select", stage_name<wta::Parameters>(), data.select);
  std::vector<std::string> seen;
  for (auto& refinement : data.refinements)
    std::visit([&]<class P>(P& p) {
      const std::string name = stage_name<std::remove_const_t<P>>();
      const auto before = std::count(seen.begin(), seen.end(), name);
      seen.push_back(name);
      const Switched<P> switched{refinement.enabled, p};
      f(before == 0 ? name : text(name, before + 1), name.c_str(), switched);
    }, refinement.stage);
  f("roi", stage_name<RegionParameters>(), data.region);
}

// The methods' definitions: methods.cpp.
PipelineData method_data(std::string_view name);

}  // namespace stereopsis
