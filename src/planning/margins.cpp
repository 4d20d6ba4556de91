// Computes the part of the input that a region of interest requires, by composing the required inputs of the stages
// backwards.
#include <algorithm>

#include "graph/region.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

Rect required_of(const StageChoice& stage, const Rect& output) {
  if (!stage || stage.entry->required_input == nullptr) return output;
  return stage.entry->required_input(stage.parameters, output);
}

// Returns the input that is required by stages whose input is added to the margin.
Rect required_of_exact(const PipelineData& p, const Request& request) {
  Rect r = *request.region;
  const auto add = [&](const StageChoice& stage) {
    if (stage.facet<UserFunction>() != nullptr) r = required_of(stage, r);
  };
  add(p.density);
  if (rates_pixels(p, request)) add(p.confidence);
  for (auto refinement = p.refinements.rbegin(); refinement != p.refinements.rend(); ++refinement)
    if (refinement->enabled) add(*refinement);
  for (const StageChoice* stage : {&p.optimisation, &p.aggregation, &p.plus, &p.cost}) add(*stage);
  return r;
}

const RegionRule* rule_of(const PipelineData& p) {
  for (const StageChoice* stage : {&p.levels, &p.aggregation, &p.cost})
    if (const auto* rule = stage->facet<RegionRule>(); rule != nullptr && rule->applies(p)) return rule;
  return nullptr;
}

// Extends a rectangle to the left and to the right by the columns of its candidates.
Rect with_candidates(const PipelineData& p, const DisparityRange& range, const Rect& r) {
  int left = std::max(0, range.max()), right = std::max(0, -range.min);
  const auto reads_both = [](const StageChoice& cost) { return cost.facet<BothCandidates>() != nullptr; };
  if (reads_both(p.cost) || reads_both(p.plus)) left = right = std::max(left, right);
  return {r.x - left, r.y, r.width + left + right, r.height};
}

// Returns the input that the images require which the term of the seeds reads.
Rect required_by_seeds(const PipelineData& p, Rect r) {
  const Ports ports = p.seeds ? p.seeds.entry->ports(p.seeds.parameters, {}) : Ports();
  for (const StageChoice& image : p.images)
    if (std::ranges::any_of(ports, [&](const Port& port) { return image.is(port.name); })) r = required_of(image, r);
  return r;
}

// Returns the region with its margin and the columns of its candidates. Pipelines without an optimisation also require
// the windows. For reduced images, the result consists of whole blocks.
Rect required_by_method(const PipelineData& p, const Request& request, const Rect& all) {
  if (const RegionRule* rule = rule_of(p)) return rule->required_input(p, request);
  const int factor = reduction_factor(p);
  const auto radius = [](const StageChoice& cost) { return -required_of(cost, {0, 0, 1, 1}).x; };
  const int window = p.optimisation ? 0 : std::max(radius(p.cost), radius(p.plus));
  const int margin = factor * (p.margin() + window);
  Rect r = intersect(required_of_exact(p, request), all);
  r = intersect(required_of(p.aggregation, grow(r, margin, margin)), all);
  r = intersect(required_by_seeds(p, r), all);
  return intersect(aligned(intersect(with_candidates(p, request.range, r), all), factor), all);
}

// Moves the start of a rectangle to the start of a block, if the confidence depends on the position in a block.
Rect from_block(const PipelineData& p, const Request& request, const Rect& r) {
  const auto* support = p.confidence.facet<Support>();
  const int block = support != nullptr && rates_pixels(p, request) ? reduction_factor(p) * support->block : 1;
  return {r.x - r.x % block, r.y - r.y % block, r.width + r.x % block, r.height + r.y % block};
}

}  // namespace

Rect required_input(const PipelineData& p, const Request& request) {
  const Rect all = whole_image(request);
  if (!request.region) return all;
  Rect required = intersect(required_of(p.prepare, required_by_method(p, request, all)), all);
  if (request.constant.mark_flat) required = facet_of<FlatMarks>().with_windows(p, request, required);
  return from_block(p, request, required);
}

}  // namespace stereopsis
