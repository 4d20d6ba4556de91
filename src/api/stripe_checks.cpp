// What does not fit is refused: stripes of larger images, and maps that are refined.
#include <algorithm>
#include <cmath>

#include "api/refuse.hpp"
#include "api/results.hpp"

namespace stereopsis {

void check(const Stripe& stripe, const Problem& p) {
  if (stripe.first_row < 0 || stripe.rows < 1 || stripe.rows > p.size.height - stripe.first_row)
    refuse(text("a stripe of ", stripe.rows, " rows from row ", stripe.first_row,
                " on does not lie inside the image of ", shown(p.size),
                " pixels; give at least one row, all of them inside"));
  const int end = stripe.first_row + stripe.rows;
  if ((stripe.above && stripe.first_row == 0) || (stripe.below && end == p.size.height))
    refuse(text("path costs come from the row ", stripe.above && stripe.first_row == 0 ? "above" : "below",
                " the stripe, which is not among those given; give that row, too, and those that features need"));
  if (p.region || p.geometry.rectification || p.geometry.want_depth || p.geometry.want_points ||
      p.geometry.want_uncertainty || p.volumes.given || wants_volumes(p))
    refuse(
        "a stripe of a larger image has maps of its own rows alone: match it rectified, without a region, depth, "
        "points or "
        "volumes, which come from the whole");
  if (stripe.follow != Stripe::Follow::none && (p.want_right || p.want_confidence))
    refuse("of a stripe whose paths alone are followed there is no map; plan without the right view and confidence");
}

void check_refines(const Problem& p) {
  if (p.region || p.stripe || p.geometry.rectification || p.want_right || p.volumes.given || wants_volumes(p))
    refuse(
        "maps that come with the pair are refined as they are: plan without a region, a stripe, a rectification, the "
        "right "
        "view's map and volumes");
}

namespace {

// Of the path costs that come with a stripe.
void check_edge(const char* name, bool comes, const ImageView<const std::uint16_t>& edge, const VolumeShape& shape) {
  if (!comes && !edge.empty())
    refuse(text("path costs ", name, " the stripe are given, which were not planned: ask for them in Problem::stripe"));
  if (!comes) return;
  if (edge.size() != shape.size || edge.channels != shape.disparities)
    refuse(text("the path costs ", name, " the stripe have ", shown(edge.size()), " pixels with ", edge.channels,
                " disparities; the matcher was planned for ", shown(shape.size), " with ", shape.disparities));
  check_pixels(text("path costs ", name, " the stripe").c_str(), edge.data, edge.size(), edge.channels, edge.pitch);
  for (int y = 0; y < edge.height; ++y)
    for (int x = 0; x < edge.width; ++x)
      if (const auto costs = edge.row(y) + static_cast<std::ptrdiff_t>(x) * edge.channels;
          *std::min_element(costs, costs + edge.channels) != 0)
        refuse(text("the path costs ", name, " the stripe have none of 0 at ", x, ",", y,
                    "; they are given less their minimum, as Matched::paths holds them"));
}

template <class T>
void check_map(const char* name, bool comes, const ImageView<const T>& map, const Problem& p) {
  if (!comes && !p.refines && !map.empty())
    refuse(text(name, " is given, which was not planned: ask for it by Problem::refines"));
  if (!comes) return;
  if (map.size() != p.size || map.channels != 1)
    refuse(text(name, " has ", shown(map.size()), " pixels and ", map.channels,
                " channels; the matcher was planned for ", shown(p.size), " with one channel"));
  check_pixels(name, map.data, map.size(), 1, map.pitch);
}

// Stages rely on it: a pixel has a disparity if and only if it has no reason against it.
void check_validity(const GivenMaps& maps) {
  for (int y = 0; y < maps.disparity.height; ++y)
    for (int x = 0; x < maps.disparity.width; ++x) {
      const bool valid = (maps.validity.row(y)[x] & validity::reasons) == 0;
      if (valid != std::isfinite(maps.disparity.row(y)[x]))
        refuse(text("the given maps contradict each other at ", x, ",", y, ": the validity says that the pixel is ",
                    valid ? "valid, but its disparity is no finite number" : "invalid, but it has a disparity",
                    "; give both as a matcher made them"));
    }
}

}  // namespace

void check_edges(const Plan& plan, const StereoPair& pair) {
  const auto& stripe = plan.problem().stripe;
  check_edge("above", stripe && stripe->above, pair.paths_above, plan.path_costs());
  check_edge("below", stripe && stripe->below, pair.paths_below, plan.path_costs());
}

void check_maps(const Plan& plan, const GivenMaps& maps) {
  const Problem& p = plan.problem();
  const RefinementNeeds needs = plan.needs();
  check_map("the given disparity", p.refines, maps.disparity, p);
  check_map("the given validity", p.refines, maps.validity, p);
  check_map("the given disparity of the right view", p.refines && needs.right, maps.right, p);
  check_map("the given confidence", p.refines && needs.confidence, maps.confidence, p);
  if (p.refines) check_validity(maps);
}

}  // namespace stereopsis
