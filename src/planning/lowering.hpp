// The passes that turn the slots of a pipeline into steps, in the order of the taxonomy.
#pragma once

#include <span>
#include <vector>

#include "graph/builder.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis {

// Returns the part of the (rectified) images that the region of the request requires.
Rect required_input(const PipelineData& pipeline, const Request& request);

// Returns the images that the method reads, rectified and cropped to the part that the region requires.
Images lower_inputs(Builder& builder);

// Returns the lowering that a stage of the pipeline has in place of the general one, which computes the volume of the
// whole image; null if there is none.
const Lowering* own_lowering(const PipelineData& pipeline, const Request& request);

// Lowers the matching costs, with the terms of the seeds, those of a first pass included, in the form that the
// optimisation takes. Sets the largest cost of the scope.
void lower_matching_costs(Builder& builder, Scope& scope, const std::vector<int>& seeds = {});
// The costs, the maps and the seeds with which a second pass of the optimisation begins.
struct FirstPass {
  int costs = -1;      // volume of the matching costs, with the terms of the caller's seeds; −1 in stripes
  double largest = 0;  // largest cost
  Maps maps = {};
  std::vector<int> seeds = {};  // values in the form of stages/prior
};
// Lowers cost, aggregation, optimisation and selection, from the images to the maps. Values for requested maps must
// exist before the call. After a first pass, its seeds are added to its costs. Returns the costs.
FirstPass lower_costs(Builder& builder, Images& images, const DisparityRange& range, Maps& maps,
                      const FirstPass& first = {});
// Returns the type of the costs that a stage of a matching cost writes.
Element element_made(const StageChoice& cost);
// Returns the port through which a stage reads (`comes_in`) or writes costs; null if there is no such port.
const Port* cost_port(const Ports& ports, bool comes_in);
// Throws Error(call) for combinations of stages that the element types of volumes do not exclude.
void check_combination(const PipelineData& pipeline, const Request& request);

// Returns whether paths that pass from stripe to stripe read a volume: words are read directly only if they have up to
// 64 bits, and nothing is added.
bool follows_volume(const PipelineData& pipeline);
// Returns the number of rows above and below a row that its matching costs require, −1 if semi-global matching cannot
// compute its costs for some rows at a time.
int rows_around_costs(const PipelineData& pipeline);
// Returns the reason why the paths cannot continue from stripe to stripe; empty if they can.
std::string why_not_followed(const PipelineData& pipeline);
// Limits the images to the rows of a stripe, and returns the path costs that enter at the borders of the stripe.
Maps lower_boundary(Builder& builder, Images& images);
// Adds the steps that compute only the path costs for the next stripe.
void lower_paths(Builder& builder, Images& images, Maps& maps);

// Returns the maps of the selection, or the given maps that are to be refined.
Maps lower_maps(Builder& builder, Size size);
// Refines the maps, upsamples maps of reduced images, and adds depth, points and the other requested outputs.
void lower_outputs(Builder& builder, Images& full, Images& seen, const DisparityRange& range, Maps& maps,
                   const FirstPass& first);
// Lowers the first pass of a pipeline with two passes: its maps and costs, and the seeds of the second one.
FirstPass lower_first_pass(Builder& builder, Images& images, const DisparityRange& range);

// Lowers a whole pipeline.
void lower(Builder& builder);

// Replaces runs of steps by fused operations. Rules with longer runs are applied first. If a rule does not apply, the
// reason is stored in the note of the step.
void fuse(std::vector<Step>& steps, std::span<const Value> values, const Target& target,
          std::span<const Rule* const> rules = registry().rules);

// Refinements of maps that the caller passes.
namespace given_maps {

// Returns the inputs that the refinements that are switched on need in addition to disparity and validity.
RefinementNeeds needs_of(const PipelineData& pipeline, bool want_confidence);

// Adds the step that copies the caller's maps which the refinements change, and returns the copies.
Maps lower(Builder& builder, Size size);

}  // namespace given_maps
}  // namespace stereopsis
