// Window matching's parameters for stages that read its colours: they use its space, weights and window, or the
// defaults if the pipeline uses another cost.
#pragma once

#include "stages/stage_descriptor.hpp"
#include "stages/window_sad/window_sad.hpp"

namespace stereopsis::window_sad {

inline Parameters parameters_of(const StepContext& n) {
  const auto* own = n.cost == nullptr ? nullptr : n.cost->get_if<Parameters>();
  return own != nullptr ? *own : Parameters{};
}
inline cost::Weighting weighting_of(const StepContext& n) {
  const Parameters p = parameters_of(n);
  return cost::weighting(p.space, p.weights);
}
inline Window window_of(const StepContext& n) { return parameters_of(n).window(); }

// Returns the colours of operands i and i + 1.
template <On on>
auto source_of(const Call<on>& c, int i = 0) {
  return typename Call<on>::template Of<Source>{c.template image<const std::uint32_t>(i),
                                                c.template image<const std::uint32_t>(i + 1),
                                                {weighting_of(c.context).max_cost(c.context.channels)}};
}

}  // namespace stereopsis::window_sad
