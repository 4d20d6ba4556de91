// Adds the steps that match an image in stripes of rows, each from the path costs at its borders.
#include <algorithm>

#include "graph/builder.hpp"
#include "stages/path_costs/path_costs.hpp"

namespace stereopsis::path_costs {

int follow_stripe(Builder& b, Scope& scope, bool up, bool from_volume) {
  const auto& p = b.pipeline().optimisation.parameters.as<sgm::Parameters>();
  const int paths = scope.maps["paths"] =
      b.image({scope.images.size.width, sgm::kinds_of(p)}, Element::u16, scope.context.range.count);
  b.run(registry().at("path_costs"), Parameters{p, up, from_volume}, scope);
  return paths;
}

// The downward paths are followed first, and their costs above each stripe are stored. The stripes are then matched from
// the lowest to the highest, and the upward paths go on from each to the next one.
void match_stripes(Builder& b, const Scope& whole, const std::function<void(Scope&)>& add_costs,
                   const std::function<void(Scope&)>& select) {
  const int height = whole.images.size.height, rows = b.stripe_rows(), count = (height + rows - 1) / rows;
  std::vector<int> above(static_cast<std::size_t>(count), -1);
  int below = -1;
  for (const bool selects : {false, true})
    for (int n = 0; n < count; ++n) {
      const int i = selects ? count - 1 - n : n;
      Maps maps = whole.maps;
      if (above[i] >= 0) maps["paths_above"] = above[i];
      if (below >= 0) maps["paths_below"] = below;
      Scope scope{whole.images, maps, whole.context, {i * rows, std::min((i + 1) * rows, height)}};
      const bool follows = selects ? i > 0 : i + 1 < count;
      if (!selects && !follows) continue;
      add_costs(scope);
      if (follows) (selects ? below : above[i + 1]) = follow_stripe(b, scope, selects, true);
      if (selects) select(scope);
    }
}

}  // namespace stereopsis::path_costs
