// Replaces runs of steps by fused operations.
#pragma once

#include <span>
#include <vector>

#include "graph/builder.hpp"

namespace stereopsis {

// Applies the registered rules to the steps. Rules with longer runs are applied first. If a rule does not apply, the
// reason is stored in the note of the step.
void fuse(std::vector<Step>& steps, std::span<const Value> values, const Target& target,
          std::span<const Rule* const> rules = registry().rules);

}  // namespace stereopsis
