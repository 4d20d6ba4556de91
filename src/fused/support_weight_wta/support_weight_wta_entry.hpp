// Ports, inputs and the fused step of the portable and the tuned operations.
#pragma once

#include "fused/support_weight_wta/support_weight_wta.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::support_weight_wta {

template <On on>
auto input_of(const Call<on>& c) {
  const auto rgb = c.template images<const std::uint32_t>("rgb"), lab = c.template images<const std::uint32_t>("lab");
  return c.template of<InputOf>(rgb[0], rgb[1], lab[0], lab[1], wta::input_of(c), c.context.range.count);
}

inline Ports ports() { return wta::selecting({in("rgb", both), if_there("lab", both)}); }
// A 16-bit volume is read and written once for each step, or once between two passes.
inline Work work(const Shape& s) {
  const auto* e = std::get_if<esaw::Parameters>(&s.as<Parameters>().aggregation);
  return {.bytes = 4.0 * (e != nullptr ? e->iterations : 1) * s.pixels() * s.context.range.count};
}

inline Aggregation aggregation_of(const StageParameters& p) {
  if (const auto* e = p.get_if<esaw::Parameters>()) return *e;
  if (const auto* s = p.get_if<asw_separable::Parameters>()) return *s;
  return p.as<asw::Parameters>();
}

inline Step fused(const Run& run, const StageDescriptor& operation) {
  const Step &costs = run.steps[0], &aggregation = run.steps[1], &selection = run.steps[2];
  return fused_step(operation,
                    Parameters{costs.parameters.as<colour_difference::Parameters>(),
                               aggregation_of(aggregation.parameters), selection.parameters.as<wta::Parameters>()},
                    run.steps);
}

}  // namespace stereopsis::support_weight_wta
