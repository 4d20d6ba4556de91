// The passes that turn the slots of a pipeline into steps, in the order of the taxonomy.
#pragma once

#include "graph/builder.hpp"

namespace stereopsis {

// The part of the (rectified) images that the request's region requires.
Rect required_input(const PipelineData& pipeline, const Request& request);

// Returns the images that the method sees: given, rectified and in the part that the region requires.
Images lower_inputs(Builder& builder);

// Makes the maps of the images: cost, aggregation, optimisation and selection. Maps that are requested have their
// values before.
void lower_costs(Builder& builder, Images& images, const DisparityRange& range, Maps& maps);
// Throws Error(call) for combinations of stages without a meaning.
void check_combination(const PipelineData& pipeline, const Request& request);

// Stripes of larger images: limits the images to the rows of the stripe, and returns the path costs that come in.
Maps lower_boundary(Builder& builder, Images& images);
// Makes only the path costs for the next stripe.
void lower_paths(Builder& builder, Images& images, Maps& maps);

// Returns the maps that the selection makes, or those that the caller gives to be refined.
Maps lower_maps(Builder& builder, Size size);
// Refines the maps, restores those of reduced images, makes depth and points, and delivers what is requested.
void lower_outputs(Builder& builder, Images& full, Images& seen, const DisparityRange& range, Maps& maps);

// Lowers a whole pipeline.
void lower(Builder& builder);

}  // namespace stereopsis
