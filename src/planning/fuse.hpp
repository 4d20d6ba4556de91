// Replaces runs of steps by fused operations.
#pragma once

#include <span>
#include <vector>

#include "graph/builder.hpp"

namespace stereopsis {

// Applies the registered rules to the steps, the widest first. A rule that does not apply leaves its reason in the
// step's note.
void fuse(std::vector<Step>& steps, std::span<const Value> values, const Target& target,
          std::span<const Rule* const> rules = registry().rules);

}  // namespace stereopsis
