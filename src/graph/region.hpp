// Computes the required input of a region of interest, for rules that compute a pipeline exactly in a region.
#pragma once

#include "graph/pipeline.hpp"
#include "graph/request.hpp"

namespace stereopsis {

// Returns the pixels whose disparity the refinements need to refine the region. `span` is the number of columns over
// which the candidates of a pixel extend. For refinements without a finite required input, the margin of the pipeline
// is added around the region.
Rect required_by_refinements(const PipelineData& pipeline, const Request& request, int span);

// Returns the smallest rectangle that contains `r` and whose edges are multiples of `multiple`.
Rect aligned(const Rect& r, int multiple);

// Returns whether the uncertainty of depth follows from the stage of the slot `confidence`.
inline bool rates_uncertainty(const PipelineData& pipeline, const Request& request) {
  return pipeline.confidence && request.requests(Binding::output_uncertainty) && request.disparity_error == 0;
}
// Returns whether the stage of the slot `confidence` runs: the slot `density` reads the confidence, or the confidence or
// an uncertainty that follows from it is requested.
inline bool rates_pixels(const PipelineData& pipeline, const Request& request) {
  return (pipeline.confidence && (pipeline.density || request.requests(Binding::output_confidence))) ||
         rates_uncertainty(pipeline, request);
}

inline Rect whole_image(const Request& r) { return {0, 0, r.seen_size().width, r.seen_size().height}; }

}  // namespace stereopsis
