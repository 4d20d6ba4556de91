// The boundary state of a stripe, for descriptors of operations that sum path costs.
#pragma once

#include "graph/registry.hpp"
#include "stages/sgm/sgm.hpp"

namespace stereopsis::sgm {

template <On on>
auto edges_of(const Call<on>& c) {
  return c.template of<EdgesOf>(c.template image<const std::uint16_t>("paths_above"),
                                c.template image<const std::uint16_t>("paths_below"));
}

}  // namespace stereopsis::sgm
