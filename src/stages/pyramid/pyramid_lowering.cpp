// Lowers matching from coarse to fine (Prehn 2007): the whole range on the coarsest level, then ranges around the
// disparities of the next coarser level.
#include <algorithm>

#include "core/text.hpp"
#include "graph/builder.hpp"
#include "graph/region.hpp"
#include "stages/pyramid/pyramid_entry.hpp"

namespace stereopsis::pyramid {
namespace {

// The colours of a level, its search range, and the maps that are computed on the level.
struct Level {
  Images images;
  DisparityRange range;
  int disparity, right;  // values of the maps; `right` is −1 if the map of the right view is not requested
};

void check_levels(const PipelineData& p, Size size) {
  const int levels = p.levels.parameters.as<Parameters>().levels;
  const int smaller = std::min(size.width, size.height),
            uniqueness = p.select.parameters.as<wta::Parameters>().uniqueness;
  int most = 0;
  while (smaller >> (most + 1) > 0) ++most;
  if (levels > most)
    throw Error(ErrorCategory::call,
                text("levels.levels = ", levels, " is not allowed for an image of ", size.width, "×", size.height,
                     " pixels; it must be at most ", most, ", so that the coarsest level has a pixel",
                     most == 0 ? " (use a method without levels)" : ""));
  if (uniqueness > 0)
    throw Error(ErrorCategory::call, text("select.uniqueness = ", uniqueness,
                                          " is not allowed with levels, which do not compute the costs of the whole "
                                          "search range; set select.uniqueness to 0, or levels.stage to none"));
}

std::vector<Level> scale_down(Builder& b, int count, Images& images, const DisparityRange& range, const Maps& maps) {
  for (const int view : {0, 1}) b.need(images, "colours", view);
  const auto right = maps.find("right");
  const bool makes_right = right != maps.end();
  std::vector<Level> levels{{images, range, maps.at("disparity"), makes_right ? right->second : -1}};
  const StageDescriptor& halve = registry().at("downsample");
  for (int i = 0; i < count; ++i) {
    const Level& fine = levels.back();
    Level level{
        {fine.images.info, halve.facet<ImageShape>()->size({}, fine.images.size), {}}, above(fine.range), -1, -1};
    for (const int view : {0, 1}) {
      const int colours = b.image(level.images.size, Element::u32);
      b.add(halve, {}, {}, {{"colours", fine.images.find("colours", view)}}, {{"colours", colours}});
      level.images.put("colours", view, colours);
    }
    level.disparity = b.image(level.images.size, Element::f32);
    if (makes_right) level.right = b.image(level.images.size, Element::f32);
    levels.push_back(std::move(level));
  }
  return levels;
}

void search_coarsest(Builder& b, Level& top) {
  const PipelineData& p = b.pipeline();
  Maps maps{{"disparity", top.disparity}, {"validity", b.image(top.images.size, Element::u8)}};
  if (top.right >= 0) maps["right"] = top.right;
  Scope scope{top.images, maps, b.context_of(top.range, top.images)};
  b.run(*p.cost.entry, p.cost.parameters, scope, "first guess");
  b.run(*p.select.entry, p.select.facet<OtherView>()->parameters(p.select.parameters), scope, "first guess");
}

void refine_level(Builder& b, const std::vector<Level>& levels, int i, const Maps& maps, bool from_right) {
  const PipelineData& pipeline = b.pipeline();
  const Level &level = levels[static_cast<std::size_t>(i)], &coarser = levels[static_cast<std::size_t>(i) + 1];
  LevelParameters p{pipeline.levels.parameters.as<Parameters>(), pipeline.select.parameters.as<wta::Parameters>()};
  const bool is_result = i == 0 && !from_right;  // true if the maps of the level are the result
  if (from_right)
    p.select = {};
  else if (i > 0)
    p.select.subpixel = wta::Subpixel::none;
  const auto map = [&](const char* name) {
    const auto found = maps.find(name);
    return Builder::PortValue{name, is_result && found != maps.end() ? found->second : -1};
  };
  const int reference = from_right ? 1 : 0;
  const auto of = [&](const char* name, Side side) {
    return Builder::PortValue{name, level.images.find(name, side == Side::reference ? reference : 1 - reference), side};
  };
  StepContext context = b.context_of(level.range, level.images);
  context.from_right = from_right;
  b.add(registry().at("pyramid_level"), p, context,
        {of("colours", Side::reference),
         of("colours", Side::other),
         of("mask", Side::reference),
         of("mask", Side::other),
         {"guess", from_right ? coarser.right : coarser.disparity}},
        {{"disparity", from_right ? level.right : level.disparity}, map("validity"), map("confidence")});
}

void match(Builder& b, Images& images, const DisparityRange& range, Maps& maps) {
  check_levels(b.pipeline(), images.size);
  const int count = b.pipeline().levels.parameters.as<Parameters>().levels;
  std::vector<Level> levels = scale_down(b, count, images, range, maps);
  search_coarsest(b, levels.back());
  for (int i = count - 1; i >= 0; --i) {
    refine_level(b, levels, i, maps, false);
    if (levels[static_cast<std::size_t>(i)].right >= 0) refine_level(b, levels, i, maps, true);
  }
}

// Returns the input that all levels require. Each level has half the size of the previous one, and needs its window.
// The rectangle is in pixels of the finest level, and is aligned to pixels of the coarsest level.
Rect required_by_levels(const PipelineData& p, const Rect& output) {
  const int levels = p.levels.parameters.as<Parameters>().levels;
  const auto with_window = [&](const Rect& r) { return p.cost.facet<SharedWindow>()->of(p.cost.parameters, r); };
  int x0 = output.x, y0 = output.y, x1 = output.x + output.width, y1 = output.y + output.height;
  Rect input = with_window(output);
  for (int level = 1; level <= levels; ++level) {
    x0 = floor_half(x0), y0 = floor_half(y0), x1 = -floor_half(-x1), y1 = -floor_half(-y1);
    const Rect here = with_window({x0, y0, x1 - x0, y1 - y0});
    const int scale = 1 << level;
    const int left = std::min(input.x, here.x * scale), top = std::min(input.y, here.y * scale);
    const int right = std::max(input.x + input.width, (here.x + here.width) * scale);
    const int bottom = std::max(input.y + input.height, (here.y + here.height) * scale);
    input = {left, top, right - left, bottom - top};
  }
  return input;
}

// Returns the input on which the pixels of the region depend. Coarse levels search up to one coarse pixel beyond the
// range.
Rect required_input(const PipelineData& p, const Request& request) {
  const Rect all = whole_image(request);
  const DisparityRange& range = request.range;
  const int beyond = 1 << p.levels.parameters.as<Parameters>().levels;
  const Rect refined = required_by_refinements(p, request, range.count - 1 + 2 * beyond);
  const Rect r = intersect(required_by_levels(p, refined), all);
  const int left = std::max(0, range.max()) + beyond, right = std::max(0, -range.min) + beyond;
  return intersect(aligned({r.x - left, r.y, r.width + left + right, r.height}, beyond), all);
}

}  // namespace

const Lowering lowering{.applies = [](const PipelineData&, const Request&) { return true; }, .match = match};
const RegionRule region_rule{.applies = [](const PipelineData& p) { return p.cost.facet<SharedWindow>() != nullptr; },
                             .required_input = required_input};

void check_pipeline(const PipelineData& p, const Request& request) {
  const auto reject = [&](const char* why) {
    throw Error(ErrorCategory::call, text("the pipeline '", p.method, "' ", why));
  };
  if (p.cost.facet<SharedWindow>() == nullptr || p.plus || p.aggregation || p.optimisation || p.prepare ||
      p.select.get_if<wta::Parameters>() == nullptr)
    reject(
        "matches on a pyramid, which supports only sums of window differences and the selection wta, without "
        "aggregation, optimisation or preparation; set levels.stage = none");
  if (request.requests_costs())
    reject(
        "matches on a pyramid, which does not compute the costs of the whole search range; set levels.stage = none for "
        "a volume");
}

}  // namespace stereopsis::pyramid
