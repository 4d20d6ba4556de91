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
                                    wta::input_of(c), c.context.range.count, c.context.stripe_rows, sgm::edges_of(c));
}

inline Ports ports() {
  return wta::selecting({in("words", both), if_there("grey8"), if_there("paths_above"), if_there("paths_below")});
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

// Returns the step with which both operations replace a run of stages. The step reads the features, not a cost volume.
inline Step fused(const Run& run, const StageDescriptor& operation) {
  const Step &costs = run.steps[0], &paths = run.steps[1], &selection = run.steps[2];
  const WordCost& cost = costs.parameters.as<cost_volume::Parameters>().cost;
  if (!cost.can_be_followed()) return {.note = "it follows features of up to 64 bits"};
  return fused_step(
      operation, Parameters{paths.parameters.as<sgm::Parameters>(), selection.parameters.as<wta::Parameters>(), cost},
      run.steps);
}

}  // namespace stereopsis::sgm_wta
