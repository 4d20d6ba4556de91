// Computes the expected result of a call: the oracles of its stages in sequence. Only this file knows how they are
// joined.
#pragma once

#include "stereopsis/matcher.hpp"

namespace stereopsis::adversary {

// Returns all outputs that the problem requests, without times. Throws Error if the pair can't be matched.
Matched reference(const Pipeline&, const Problem&, const StereoPair&);

}  // namespace stereopsis::adversary
