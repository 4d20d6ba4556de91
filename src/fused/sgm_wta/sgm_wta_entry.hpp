// Ports, inputs and the fused step of the portable and the tuned operations.
#pragma once

#include "fused/sgm_wta/sgm_wta.hpp"
#include "stages/cost/source_of.hpp"
#include "stages/cost_volume/cost_volume.hpp"
#include "stages/sgm/sgm_entry.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::sgm_wta {

template <On on, class Kind>
auto input_of(const Call<on>& c, const Kind& kind) {
  return c.template of<Input, Kind>(cost::source_of(c, kind), c.template image<const std::uint8_t>("grey8"),
                                    wta::input_of(c), c.context.range.count, c.context.stripe_rows, sgm::edges_of(c),
                                    c.template image<const std::uint32_t>("prior"));
}

inline Ports ports() {
  return wta::selecting(
      {in("words", both), if_there("grey8"), if_there("paths_above"), if_there("paths_below"), if_there("prior")});
}
inline Work work(const Shape& s) {
  const double cells = s.pixels() * s.context.range.count;
  // The 16-bit sums are written and read once. For each cell of a path, there are 11 instructions: cost, minima,
  // additions, sums.
  Work work{.bytes = 4 * cells, .path_ops = 11 * cells * s.as<Parameters>().sgm.paths};
  cost::with_followed_kind(s.as<Parameters>().cost,
                           [&](const auto& kind) { work.popcounts = cells * kind.popcounts(); });
  return work;
}

// Returns the parameters of a run that ends with semi-global matching and the selection.
inline Parameters parameters_of(const Run& run) {
  Parameters p;
  for (const Step& step : run.steps) {
    if (const auto* of = step.parameters.get_if<sgm::Parameters>()) p.sgm = *of;
    if (const auto* of = step.parameters.get_if<wta::Parameters>()) p.select = *of;
    if (const auto* of = step.parameters.get_if<seeds::Parameters>()) p.seeds = *of;
  }
  return p;
}

// Returns the step with which both operations replace a run of stages. The step reads the features, not a cost volume.
inline Step fused(const Run& run, const StageDescriptor& operation) {
  const WordCost& cost = run.steps[0].parameters.as<cost_volume::Parameters>().cost;
  if (!cost.can_be_followed()) return {.note = "it follows features of up to 64 bits"};
  Parameters p = parameters_of(run);
  p.cost = cost;
  return fused_step(operation, std::move(p), run.steps);
}

}  // namespace stereopsis::sgm_wta
