// Lowers stripes of larger images. Features are computed from all rows of the input, the method reads the rows of the
// stripe, and path costs enter at the borders of the stripe.
#include <algorithm>

#include "core/text.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {

bool follows_volume(const PipelineData& p) { return p.seeds || p.plus || !word_cost_of(p.cost).can_be_followed(); }

int rows_around_costs(const PipelineData& p) {
  const auto rows_around = [](const StageChoice& cost) {
    if (!cost || cost.facet<WordCosts>() != nullptr) return 0;
    if (element_made(cost) != Element::u8 || cost.facet<UserFunction>() != nullptr) return -1;
    return cost.entry->required_input == nullptr ? 0 : -cost.entry->required_input(cost.parameters, {0, 0, 1, 1}).y;
  };
  if (p.optimisation.facet<PathBoundary>() == nullptr || p.aggregation) return -1;
  const auto [least, most] = std::minmax({rows_around(p.cost), rows_around(p.plus)});
  return least < 0 ? least : most;
}

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
  const StageChoice& optimisation = b.pipeline().optimisation;
  const Size size{images.size.width, optimisation.facet<PathBoundary>()->kinds(optimisation.parameters)};
  Maps paths;
  const auto take = [&](bool comes, const char* name, Binding binding) {
    if (comes) b.bind(paths[name] = b.image(size, Element::u16, b.request().range.count), binding);
  };
  take(stripe.above, "paths_above", Binding::paths_above);
  take(stripe.below, "paths_below", Binding::paths_below);
  return paths;
}

void lower_paths(Builder& b, Images& images, Maps& maps) {
  const PipelineData& p = b.pipeline();
  Scope scope{images, maps, b.context_of(b.request().range, images)};
  scope.word_cost = word_cost_of(p.cost);
  if (follows_volume(p))
    lower_matching_costs(b, scope);
  else
    b.run(p.cost, scope);
  const PathBoundary& boundary = *p.optimisation.facet<PathBoundary>();
  b.bind(boundary.follow(b, scope, b.request().stripe->follows_up, follows_volume(p)), Binding::output_paths);
}

}  // namespace stereopsis
