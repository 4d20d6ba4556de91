// What a call means: the oracles of its stages, one after the other. The one place here that knows how they are joined.
#pragma once

#include "stereopsis/matcher.hpp"

namespace stereopsis::adversary {

// Of everything that the problem wants, without times. Throws Error for what can't be matched.
Matched reference(const Pipeline&, const Problem&, const StereoPair&);

}  // namespace stereopsis::adversary
