// Coarse to fine (Prehn 2007): the whole range on the coarsest level, then around what each coarser level found.
#include "core/text.hpp"
#include "program/composer.hpp"
#include "stages/pyramid/pyramid_entry.hpp"

namespace stereopsis {

// What a level has: its colours, its range, and the maps that are made on it.
struct Composer::Level {
  Images images;
  DisparityRange range;
  int disparity, right;  // the right view's where it is wanted, else −1
};

namespace {

void check_levels(const PipelineData& p, Size size) {
  const int levels = p.levels.parameters.as<pyramid::Parameters>().levels;
  const int smaller = std::min(size.width, size.height),
            uniqueness = p.select.parameters.as<wta::Parameters>().uniqueness;
  int most = 0;
  while (smaller >> (most + 1) > 0) ++most;
  if (levels > most)
    throw Error(ErrorCategory::call,
                text("levels.levels = ", levels, " is not allowed for an image of ", size.width, "×", size.height,
                     " pixels; it must be at most ", most, ", so that the coarsest level has a pixel",
                     most == 0 ? " (take a method without levels)" : ""));
  if (uniqueness > 0)
    throw Error(ErrorCategory::call,
                text("select.uniqueness = ", uniqueness,
                     " is not allowed with levels, which do not see the "
                     "costs of the whole range; set select.uniqueness to 0, or levels.stage to none"));
}

}  // namespace

void Composer::match_pyramid(Images& images, const DisparityRange& range, Maps& maps) {
  check_levels(pipeline_, images.size);
  const int count = pipeline_.levels.parameters.as<pyramid::Parameters>().levels;
  std::vector<Level> levels = scale_down(count, images, range, maps);
  search_coarsest(levels.back());
  for (int i = count - 1; i >= 0; --i) {
    refine_level(levels, i, maps, false);
    if (levels[i].right >= 0) refine_level(levels, i, maps, true);
  }
}

std::vector<Composer::Level> Composer::scale_down(int count, Images& images, const DisparityRange& range,
                                                  const Maps& maps) {
  for (const int view : {0, 1}) need(images, "colours", view);
  const auto right = maps.find("right");
  const bool wants_right = right != maps.end();
  std::vector<Level> levels{{images, range, maps.at("disparity"), wants_right ? right->second : -1}};
  const StageDescriptor& halve = registry().at("downsample");
  for (int i = 0; i < count; ++i) {
    const Level& fine = levels.back();
    Level level{{fine.images.info, halve.output_size({}, fine.images.size), {}}, pyramid::above(fine.range), -1, -1};
    for (const int view : {0, 1}) {
      const int colours = image(level.images.size, Element::u32);
      add(halve, {}, {}, {{fine.images.find("colours", view), {}}, {colours, {}}});
      level.images.put("colours", view, colours);
    }
    level.disparity = image(level.images.size, Element::f32);
    if (wants_right) level.right = image(level.images.size, Element::f32);
    levels.push_back(std::move(level));
  }
  return levels;
}

void Composer::search_coarsest(Level& top) {
  Maps maps{{"disparity", top.disparity}, {"validity", image(top.images.size, Element::u8)}};
  if (top.right >= 0) maps["right"] = top.right;
  Scope scope{top.images, maps, context_of(top.range, top.images)};
  run(*pipeline_.cost.entry, pipeline_.cost.parameters, scope, "first guess");
  const bool border = pipeline_.select.parameters.as<wta::Parameters>().border_candidates;
  run(*pipeline_.select.entry, wta::Parameters{.border_candidates = border}, scope, "first guess");
}

void Composer::refine_level(const std::vector<Level>& levels, int i, const Maps& maps, bool from_right) {
  const Level& level = levels[i];
  pyramid::LevelParameters p{pipeline_.levels.parameters.as<pyramid::Parameters>(),
                             pipeline_.select.parameters.as<wta::Parameters>()};
  const bool result = i == 0 && !from_right;  // the one that is selected from
  if (from_right)
    p.select = {};
  else if (i > 0)
    p.select.subpixel = wta::Subpixel::none;
  const auto map = [&](const char* name) {
    const auto found = maps.find(name);
    return Operand{result && found != maps.end() ? found->second : -1, {}};
  };
  const int reference = from_right ? 1 : 0, other = 1 - reference;
  const auto of = [&](const char* name, int view) { return Operand{level.images.find(name, view), {}}; };
  StepContext n = context_of(level.range, level.images);
  n.from_right = from_right;
  add(registry().at("pyramid_level"), p, n,
      {of("colours", reference),
       of("colours", other),
       of("mask", reference),
       of("mask", other),
       {from_right ? levels[i + 1].right : levels[i + 1].disparity, {}},
       {from_right ? level.right : level.disparity, {}},
       map("validity"),
       map("confidence")});
}

}  // namespace stereopsis
