// Lowers stripes of larger images. Features are computed from all rows of the input, the method reads the rows of the
// stripe, and path costs enter at the borders of the stripe.
#include "core/text.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

void check(const PipelineData& p) {
  const bool follows = p.optimisation.facet<PathBoundary>() != nullptr && word_cost_of(p.cost).can_be_followed();
  if (!follows || p.plus || p.seeds || p.levels || p.prepare || p.aggregation)
    throw Error(ErrorCategory::call,
                text("the pipeline '", p.method,
                     "' cannot be matched in stripes, which requires semi-global matching of features of up to 64 "
                     "bits, on one level and without an aggregation; match overlapping parts of the images"));
}

int path_image(Builder& b, const Images& images) {
  const StageChoice& optimisation = b.pipeline().optimisation;
  return b.image({images.size.width, optimisation.facet<PathBoundary>()->kinds(optimisation.parameters)}, Element::u16,
                 b.request().range.count);
}

}  // namespace

Maps lower_boundary(Builder& b, Images& images) {
  check(b.pipeline());
  const Request::Stripe& stripe = *b.request().stripe;
  images.full_height = images.size.height;
  images.rows = {stripe.first_row, stripe.first_row + stripe.rows};
  images.size.height = stripe.rows;
  Maps paths;
  const auto take = [&](bool comes, const char* name, Binding binding) {
    if (comes) b.bind(paths[name] = path_image(b, images), binding);
  };
  take(stripe.above, "paths_above", Binding::paths_above);
  take(stripe.below, "paths_below", Binding::paths_below);
  return paths;
}

void lower_paths(Builder& b, Images& images, Maps& maps) {
  const PipelineData& p = b.pipeline();
  const PathBoundary& boundary = *p.optimisation.facet<PathBoundary>();
  Scope scope{images, maps, b.context_of(b.request().range, images)};
  scope.word_cost = word_cost_of(p.cost);
  b.run(p.cost, scope);
  b.bind(maps["paths"] = path_image(b, images), Binding::output_paths);
  b.run(registry().at(boundary.stage), boundary.parameters(p.optimisation.parameters, b.request().stripe->follows_up),
        scope);
}

}  // namespace stereopsis
