#include "graph/region.hpp"

#include <algorithm>

namespace stereopsis {
namespace {

Rect required_by(const StageChoice& stage, const StageChoice& cost, int span, const Rect& output) {
  const StageDescriptor& s = *stage.entry;
  const auto* support = stage.facet<Support>();
  // The input includes all pixels that may match the right pixel.
  const auto spanned = [&](const Rect& r) { return support != nullptr && support->spans_range ? grow(r, span, 0) : r; };
  if (support != nullptr && support->spans_window) return cost.facet<SharedWindow>()->of(cost.parameters, output);
  if (s.global_support || s.required_input == nullptr) return spanned(output);
  return spanned(s.required_input(stage.parameters, output));
}

}  // namespace

Rect required_by_refinements(const PipelineData& p, const Request& request, int span) {
  Rect r = *request.region;
  if (p.density) r = required_by(p.density, p.cost, span, r);
  if (rates_pixels(p, request)) r = required_by(p.confidence, p.cost, span, r);
  const auto is_unbounded = [](const StageChoice& stage) { return stage.enabled && stage.entry->global_support; };
  if (std::ranges::any_of(p.refinements, is_unbounded)) r = grow(r, p.margin(), p.margin());
  for (auto refinement = p.refinements.rbegin(); refinement != p.refinements.rend(); ++refinement)
    if (refinement->enabled) r = required_by(*refinement, p.cost, span, r);
  return request.requests(Binding::output_right) ? grow(r, span, 0) : r;
}

Rect aligned(const Rect& r, int multiple) {
  const auto down = [&](int v) { return v - (v % multiple + multiple) % multiple; };
  const int x = down(r.x), y = down(r.y), right = down(r.x + r.width + multiple - 1),
            bottom = down(r.y + r.height + multiple - 1);
  return {x, y, right - x, bottom - y};
}

}  // namespace stereopsis
