// Converts the public Problem to the planner's Request.
#pragma once

#include "graph/pipeline.hpp"
#include "graph/request.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

Request request_of(const Problem& problem);

}  // namespace stereopsis
