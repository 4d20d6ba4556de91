// The parameters of window matching, for stages that read its colours. Such stages use the colour space, weights and
// window of window matching, or the defaults if the pipeline uses another cost.
#pragma once

#include "graph/registry.hpp"
#include "stages/shared/windows.hpp"

namespace stereopsis::window_sad {

// Returns the parameters of a matching cost if it is window matching, and otherwise the default parameters.
inline Parameters parameters_of(const StageParameters& cost) {
  const auto* own = cost.get_if<Parameters>();
  return own != nullptr ? *own : Parameters{};
}
inline cost::Weighting weighting_of(const Parameters& p) { return cost::weighting(p.space, p.weights); }

// Returns the colours of both views, with the largest cost of a pixel.
template <On on>
auto source_of(const Call<on>& c, const cost::Weighting& weighting) {
  return c.template of<Source>(c.template image<const std::uint32_t>("colours"),
                               c.template image<const std::uint32_t>("colours", Side::other),
                               cost::Colours{weighting.max_cost(c.context.channels)});
}

}  // namespace stereopsis::window_sad
