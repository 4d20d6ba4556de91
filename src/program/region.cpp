// The part of the input that a region of interest needs: the required input of the stages, composed backwards.
#include <algorithm>

#include "program/composer.hpp"
#include "program/user_stage.hpp"
#include "stages/cross_scale/cross_scale.hpp"
#include "stages/guided/guided.hpp"
#include "stages/pyramid/pyramid.hpp"

namespace stereopsis {
namespace {

Rect whole(const Problem& p) { return {0, 0, p.rectified_size().width, p.rectified_size().height}; }

// What the caller's own stages need, behind whatever else does.
Rect required_of_users(const PipelineData& data, Rect r) {
  const auto add = [&](const StageChoice& stage) { r = user_stage::required_input(stage.parameters, r).value_or(r); };
  for (auto refinement = data.refinements.rbegin(); refinement != data.refinements.rend(); ++refinement)
    if (refinement->enabled) add(*refinement);
  for (const StageChoice* stage : {&data.optimisation, &data.aggregation, &data.plus, &data.cost}) add(*stage);
  return r;
}

Rect required_of(const StageChoice& stage, const Rect& output) {
  if (!stage || stage.entry->required_input == nullptr) return output;
  return stage.entry->required_input(stage.parameters, output);
}

// What an enabled refinement needs of the left view's map and images. `span`: the columns that a range's candidates spread over.
Rect input_of_refinement(const StageChoice& stage, const window_sad::Window& window, int span, const Rect& output) {
  if (stage.is("left_right")) return grow(output, span, 0);  // all that the right pixel may match
  if (stage.is("confidence")) return window_sad::required_input(window, output);
  return stage.entry->global_support ? output : required_of(stage, output);
}

// The levels of a pyramid, each halved and grown by its window; in pixels of the finest, at multiples of the coarsest's.
Rect input_of_levels(int levels, const window_sad::Window& window, const Rect& output) {
  int x0 = output.x, y0 = output.y, x1 = output.x + output.width, y1 = output.y + output.height;
  Rect input = window_sad::required_input(window, output);
  for (int level = 1; level <= levels; ++level) {
    x0 = pyramid::floor_half(x0), y0 = pyramid::floor_half(y0), x1 = -pyramid::floor_half(-x1),
    y1 = -pyramid::floor_half(-y1);
    const Rect here = window_sad::required_input(window, {x0, y0, x1 - x0, y1 - y0});
    const int scale = 1 << level;
    const int left = std::min(input.x, here.x * scale), top = std::min(input.y, here.y * scale);
    const int right = std::max(input.x + input.width, (here.x + here.width) * scale);
    const int bottom = std::max(input.y + input.height, (here.y + here.height) * scale);
    input = {left, top, right - left, bottom - top};
  }
  return input;
}

Rect aligned(const Rect& r, int multiple) {
  const auto down = [&](int v) { return v - (v % multiple + multiple) % multiple; };
  const int x = down(r.x), y = down(r.y), right = down(r.x + r.width + multiple - 1),
            bottom = down(r.y + r.height + multiple - 1);
  return {x, y, right - x, bottom - y};
}

// Of window matching, all that the region's pixels depend on, so that they are those of the whole image. What follows it and has
// no finite required input gets `region.margin` around.
Rect input_of_windows(const PipelineData& data, const Problem& p) {
  Rect r = *p.region;
  const auto is_unbounded = [](const StageChoice& stage) { return stage.enabled && stage.entry->global_support; };
  if (std::any_of(data.refinements.begin(), data.refinements.end(), is_unbounded))
    r = grow(r, data.margin(), data.margin());

  const auto* pyramid = data.levels.get_if<pyramid::Parameters>();
  const int levels = pyramid != nullptr ? pyramid->levels : 0, multiple = 1 << levels;
  // Coarse levels search up to a pixel of theirs beyond the range.
  const int beyond = levels > 0 ? multiple : 0;
  const window_sad::Window window = data.cost.parameters.as<window_sad::Parameters>().window();
  const int span = p.range.count - 1 + 2 * beyond;
  for (auto refinement = data.refinements.rbegin(); refinement != data.refinements.rend(); ++refinement)
    if (refinement->enabled) r = input_of_refinement(*refinement, window, span, r);
  if (p.want_right) r = grow(r, span, 0);
  r = intersect(input_of_levels(levels, window, r), whole(p));
  const int left = std::max(0, p.range.max()) + beyond, right = std::max(0, -p.range.min) + beyond;
  return intersect(aligned({r.x - left, r.y, r.width + left + right, r.height}, multiple), whole(p));
}

// Of filtered volumes. It begins with a pixel of the coarsest level. With refinements, whole rows: a fill may look so far.
Rect input_of_filters(const PipelineData& data, const Problem& p) {
  const auto& filter = data.aggregation.parameters.as<guided::Parameters>();
  const auto* given = data.levels.get_if<cross_scale::Parameters>();
  const cross_scale::Parameters scales = given == nullptr ? cross_scale::Parameters{} : *given;
  constexpr int widest_feature = 7, widest_refinement = 32;  // a rank window of 15×15, a weighted median
  const int levels = cross_scale::levels_of(scales), coarsest = 1 << (levels - 1);
  const bool refine_only =
      std::any_of(data.refinements.begin(), data.refinements.end(), [](const StageChoice& r) { return r.enabled; });
  const int radius = levels > 1 ? std::max(filter.radius, scales.radius) : filter.radius;
  const int margin = (2 * radius + widest_feature + 1) * coarsest + (refines ? widest_refinement : 0);
  Rect r = grow(*p.region, margin, margin);
  const int left = refines ? whole(p).width : std::max(0, p.range.max()),
            right = refines ? whole(p).width : std::max(0, -p.range.min);
  r = {r.x - left, r.y, r.width + left + right, r.height};
  const int x = std::max(r.x, 0) / coarsest * coarsest, y = std::max(r.y, 0) / coarsest * coarsest;
  return intersect({x, y, r.x + r.width - x, r.y + r.height - y}, whole(p));
}

}  // namespace

bool uses_row_tiles(const PipelineData& data) {
  return data.aggregation && data.aggregation.entry->row_tiles && !data.optimisation && data.cost && !data.plus &&
         data.cost.entry->kind != nullptr;
}

bool takes_margin(const PipelineData& data) {
  if (uses_row_tiles(data)) return false;
  return data.optimisation || std::any_of(data.refinements.begin(), data.refinements.end(),
                                          [](const StageChoice& r) { return r.entry->global_support; });
}

// Of semi-global matching, its margin around and the columns that its candidates lie in; of other costs, the windows and the
// margin; whole blocks where the images are reduced.
Rect required_input(const PipelineData& data, const Problem& p) {
  const Rect all = whole(p);
  if (!p.region) return all;
  if (data.cost.is("window_sad") && !data.plus && !data.aggregation && !data.optimisation)
    return input_of_windows(data, p);
  if (uses_row_tiles(data)) return input_of_filters(data, p);
  const int factor = reduction_of(data).factor;
  Rect r = intersect(required_of_users(data, *p.region), all);
  const auto radius = [](const StageChoice& cost) { return -required_of(cost, {0, 0, 1, 1}).x; };
  const int window = data.optimisation ? 0 : std::max(radius(data.cost), radius(data.plus));
  const int margin = factor * (data.margin() + window);
  r = intersect(required_of(data.aggregation, grow(r, margin, margin)), all);
  int left = std::max(0, p.range.max()), right = std::max(0, -p.range.min);
  if (data.cost.is("zncc") || data.plus.is("zncc"))
    left = right = std::max(left, right);  // the candidates of both views
  r = intersect({r.x - left, r.y, r.width + left + right, r.height}, all);
  const auto start = [&](int at) { return at / factor * factor; };
  const auto end = [&](int at, int size) { return std::min((at + factor - 1) / factor * factor, size); };
  return {start(r.x), start(r.y), end(r.x + r.width, all.width) - start(r.x),
          end(r.y + r.height, all.height) - start(r.y)};
}

}  // namespace stereopsis
