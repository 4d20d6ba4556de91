// Lowers stripes of larger images. Features are computed from all rows of the input, the method reads the rows of the
// stripe, and path costs enter at the borders of the stripe.
#include "core/text.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

// Returns whether the paths read a volume: words are read directly only if they have up to 64 bits, and nothing is added.
bool follows_volume(const PipelineData& p) { return p.seeds || p.plus || !word_cost_of(p.cost).can_be_followed(); }

int path_image(Builder& b, const Images& images) {
  const StageChoice& optimisation = b.pipeline().optimisation;
  return b.image({images.size.width, optimisation.facet<PathBoundary>()->kinds(optimisation.parameters)}, Element::u16,
                 b.request().range.count);
}

}  // namespace

std::string why_not_followed(const PipelineData& p) {
  const auto has_words = [](const StageChoice& cost) { return !cost || cost.facet<WordCosts>() != nullptr; };
  if (p.optimisation.facet<PathBoundary>() == nullptr) return "it has no semi-global matching";
  if (p.levels || p.prepare || p.aggregation)
    return "semi-global matching can continue from path costs only on one level and without an aggregation";
  if (!has_words(p.cost) || !has_words(p.plus))
    return "semi-global matching can continue from path costs only with matching costs of feature words";
  return {};
}

Maps lower_boundary(Builder& b, Images& images) {
  if (const std::string why = why_not_followed(b.pipeline()); !why.empty())
    throw Error(ErrorCategory::call, text("the pipeline '", b.pipeline().method, "' cannot be matched in stripes: ",
                                          why, "; match overlapping parts of the images"));
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
  scope.context.rows = {0, images.size.height};
  scope.word_cost = word_cost_of(p.cost);
  if (follows_volume(p))
    lower_matching_costs(b, scope);
  else
    b.run(p.cost, scope);
  b.bind(maps["paths"] = path_image(b, images), Binding::output_paths);
  const bool up = b.request().stripe->follows_up;
  b.run(registry().at(boundary.stage), boundary.parameters(p.optimisation.parameters, up, follows_volume(p)), scope);
}

}  // namespace stereopsis
