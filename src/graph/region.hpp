// Required inputs around a region of interest, for rules that compute a pipeline exactly in a region.
#pragma once

#include "graph/pipeline.hpp"
#include "graph/request.hpp"

namespace stereopsis {

// Returns the pixels whose disparity the refinements need to refine the region. `span` is the number of columns over
// which the candidates of a pixel extend. Refinements without a finite required input get the pipeline's margin around
// the region.
Rect required_by_refinements(const PipelineData& pipeline, const Request& request, int span);

// Returns the smallest rectangle that contains `r` and whose edges are multiples of `multiple`.
Rect aligned(const Rect& r, int multiple);

inline Rect whole_image(const Request& request) {
  return {0, 0, request.seen_size().width, request.seen_size().height};
}

}  // namespace stereopsis
