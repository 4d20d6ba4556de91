// Stripes of larger images: features are made of all rows that are given, the method sees those that paths pass, and path costs
// come in at their edges.
#include "core/text.hpp"
#include "program/composer.hpp"
#include "stages/path_costs/path_costs.hpp"

namespace stereopsis {

// The part of a view's image that a step reads.
Operand Composer::of_stripe(const Scope& scope, int image, const StageDescriptor& entry) const {
  const bool makes_images = entry.slot == Slot::image || (entry.slot == Slot::cost && entry.kind != nullptr);
  if (makes_images || scope.images.rows.count() == 0) return {image, scope.rows};
  return {image, scope.images.rows};
}

void Composer::cut_stripe(Images& images, Maps& edges) {
  const BoundaryStripe& stripe = *problem_.stripe;
  const auto* p = pipeline_.optimisation.get_if<sgm::Parameters>();
  if (p == nullptr || pipeline_.plus || pipeline_.levels || pipeline_.prepare || pipeline_.aggregation ||
      !cost::can_be_followed(context_of(problem_.range, images).kind))
    throw Error(
        ErrorCategory::call,
        text("the pipeline '", pipeline_.method,
             "' is not matched in stripes: that is for semi-global matching of features of up to 64 bits, on one level "
             "and without an aggregation; match overlapping parts of the images"));
  images.rows = {stripe.first_row, stripe.first_row + stripe.rows};
  images.size.height = stripe.rows;
  const int disparities = problem_.range.count;
  const auto take = [&](bool comes, const char* name, Binding binding) {
    if (!comes) return;
    edges[name] = image({images.size.width, sgm::kinds_of(*p)}, Element::u16, disparities);
    program_.values_[edges[name]].binding = binding;
  };
  take(stripe.above, "paths_above", Binding::paths_above);
  take(stripe.below, "paths_below", Binding::paths_below);
}

// The paths alone.
void Composer::follow_paths(Images& images, Maps& maps) {
  const auto& p = pipeline_.optimisation.parameters.as<sgm::Parameters>();
  Scope scope{images, maps, context_of(problem_.range, images)};
  run(pipeline_.cost, scope);
  if (p.adaptive()) need(images, "grey8", 0);
  maps["paths"] = image({images.size.width, sgm::kinds_of(p)}, Element::u16, problem_.range.count);
  program_.values_[maps["paths"]].binding = Binding::output_paths;
  run(registry().at("path_costs"), path_costs::Parameters{p, problem_.stripe->follow == BoundaryStripe::Follow::up}, scope);
}

}  // namespace stereopsis
