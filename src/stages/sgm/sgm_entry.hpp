// The positions of the guide and of a stripe's boundary state among the operands of semi-global matching.
#pragma once

#include "stages/sgm/sgm.hpp"
#include "graph/descriptor.hpp"

namespace stereopsis::sgm {

// Returns the boundary state from images i and i + 1 of a call.
template <On on>
auto edges_of(const Call<on>& c, int i) {
  return typename Call<on>::template Of<EdgesOf>{c.template image<const std::uint16_t>(i),
                                                 c.template image<const std::uint16_t>(i + 1)};
}

// The order of operands: the costs, the guide if P2 is adaptive, both edges, and the sums.
inline int first_edge(const StageParameters& p) { return p.as<Parameters>().adaptive() ? 2 : 1; }
inline Operand guide_of(const Step& step) {
  return step.parameters.as<Parameters>().adaptive() ? step.operands[1] : Operand{};
}
inline std::span<const Operand> edges_of(const Step& step) {
  return std::span(step.operands).subspan(static_cast<std::size_t>(first_edge(step.parameters)), 2);
}

}  // namespace stereopsis::sgm
