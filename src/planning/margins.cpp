// The part of the input that a region of interest requires: the required input of the stages, composed backwards.
#include <algorithm>

#include "graph/region.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

Rect required_of(const StageChoice& stage, const Rect& output) {
  if (!stage || stage.entry->required_input == nullptr) return output;
  return stage.entry->required_input(stage.parameters, output);
}

// Returns the input that stages require whose input counts in addition to the margin.
Rect required_of_exact(const PipelineData& p, Rect r) {
  const auto add = [&](const StageChoice& stage) {
    if (stage && stage.entry->counts_in_regions) r = required_of(stage, r);
  };
  for (auto refinement = p.refinements.rbegin(); refinement != p.refinements.rend(); ++refinement)
    if (refinement->enabled) add(*refinement);
  for (const StageChoice* stage : {&p.optimisation, &p.aggregation, &p.plus, &p.cost}) add(*stage);
  return r;
}

const RegionRule* rule_of(const PipelineData& p) {
  for (const StageChoice* stage : {&p.levels, &p.aggregation, &p.cost})
    if (*stage && stage->entry->region_rule != nullptr && stage->entry->region_rule->applies(p))
      return stage->entry->region_rule;
  return nullptr;
}

// Grows a rectangle to the left and to the right by the columns in which its candidates lie.
Rect with_candidates(const PipelineData& p, const DisparityRange& range, const Rect& r) {
  int left = std::max(0, range.max()), right = std::max(0, -range.min);
  const auto reads_both = [](const StageChoice& cost) { return cost && cost.entry->reads_both_candidates; };
  if (reads_both(p.cost) || reads_both(p.plus)) left = right = std::max(left, right);
  return {r.x - left, r.y, r.width + left + right, r.height};
}

// Returns the region with its margin and the columns of its candidates, for pipelines without an optimisation also with
// the windows; for reduced images in whole blocks.
Rect required_by_method(const PipelineData& p, const Request& request, const Rect& all) {
  if (const RegionRule* rule = rule_of(p)) return rule->required_input(p, request);
  const int factor = reduction_factor(p);
  const auto radius = [](const StageChoice& cost) { return -required_of(cost, {0, 0, 1, 1}).x; };
  const int window = p.optimisation ? 0 : std::max(radius(p.cost), radius(p.plus));
  const int margin = factor * (p.margin() + window);
  Rect r = intersect(required_of_exact(p, *request.region), all);
  r = intersect(required_of(p.aggregation, grow(r, margin, margin)), all);
  r = intersect(with_candidates(p, request.range, r), all);
  const auto start = [&](int at) { return at / factor * factor; };
  const auto end = [&](int at, int size) { return std::min((at + factor - 1) / factor * factor, size); };
  return {start(r.x), start(r.y), end(r.x + r.width, all.width) - start(r.x),
          end(r.y + r.height, all.height) - start(r.y)};
}

}  // namespace

Rect required_input(const PipelineData& p, const Request& request) {
  const Rect all = whole_image(request);
  return request.region ? intersect(required_of(p.prepare, required_by_method(p, request, all)), all) : all;
}

}  // namespace stereopsis
