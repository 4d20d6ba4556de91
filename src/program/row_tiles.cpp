// Filtered cost volumes (Rhemann et al. 2011; Reis and Souza 2017; across scales, Zhang et al. 2014): features of both views, and
// then, a tile of rows after another, a volume of costs, the filter on its slices, the same at coarser levels where they have a
// part, and the selection. Only a row tile's volumes are there at a time: they need the same memory whatever the height of the
// image, and give the same bits whatever the height of the row tiles.
//
// The right view's disparity comes from costs of its own, which its own image guides.
#include <algorithm>

#include "program/composer.hpp"
#include "stages/cross_scale/cross_scale_entry.hpp"
#include "stages/guided/guided.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {

// The levels, from the finest on.
struct Composer::Scales {
  std::vector<Images> levels;
  DisparityRange range;
  cross_scale::Parameters parameters;

  int count() const { return static_cast<int>(levels.size()); }
  // With the right view as the reference, over −d.
  DisparityRange range_at(int s, bool from_right) const {
    const int min = from_right ? -range.max() : range.min, max = from_right ? -range.min : range.max();
    const int first = cross_scale::at_level(min, s, from_right), last = cross_scale::at_level(max, s, from_right);
    return {first, last - first + 1};
  }
};

namespace {

// The rows of a level that belong to some of the finest one, and those that a filter of this radius reads for them.
Rows rows_at(Rows rows, int s) { return {rows.first >> s, ((rows.last - 1) >> s) + 1}; }
Rows rows_around(Rows rows, int radius, int height) {
  return {std::max(rows.first - 2 * radius, 0), std::min(rows.last + 2 * radius, height)};
}

// Row tiles of one height, which is at most this.
int even_tiles(int rows, int tallest) {
  const int most = std::clamp(tallest, 16, std::max(rows, 16)), tiles = (rows + most - 1) / most;
  return (rows + tiles - 1) / tiles;
}

// How tall row tiles are whose volumes, with what is computed around them, take some hundred megabytes: bytes a cell of costs, of
// coefficients where they are kept, and of filtered costs.
int tile_rows(const guided::Parameters& p, Size size, int disparities, const Target& target) {
  const bool gpu = target.device == On::gpu;
  const double cost = 1, coefficients = gpu ? 16 : 0, filtered = 4, all = gpu ? 1.0 * (1 << 30) : 256.0 * (1 << 20);
  const double bytes = all / (static_cast<double>(size.width) * disparities);
  const double around = p.radius * (4 * cost + 2 * coefficients);
  return even_tiles(size.height, static_cast<int>(std::min((bytes - around) / (cost + coefficients + filtered), 1e6)));
}

}  // namespace

void Composer::match_in_row_tiles(Images& images, const DisparityRange& range, Maps& maps) {
  Scales scales = make_scales(images, range);
  match_row_tiles(scales, false, pipeline_.select.parameters, maps);
  if (!maps.contains("right")) return;
  // The right view's, in whole pixels, and whether they are unique or not.
  const bool border = pipeline_.select.parameters.as<wta::Parameters>().border_candidates;
  Maps right{{"disparity", maps["right"]}, {"validity", image(images.size, Element::u8)}};
  match_row_tiles(scales, true, wta::Parameters{.border_candidates = border}, right);
}

Composer::Scales Composer::make_scales(Images& finest, const DisparityRange& range) {
  const auto* p = pipeline_.levels.get_if<cross_scale::Parameters>();
  Scales scales{{}, range, p == nullptr ? cross_scale::Parameters{} : *p};
  const int count = cross_scale::levels_of(scales.parameters);
  const StageDescriptor& halve = registry().at("halve");
  Maps none;
  Scope features{finest, none, context_of(range, finest)};
  run(pipeline_.cost, features);
  scales.levels.push_back(finest);
  for (int s = 1; s < count; ++s) {
    Images& fine = scales.levels.back();
    Images level{{Element::u8, fine.info.channels}, halve.output_size({}, fine.size), {}};
    for (const int view : {0, 1}) {
      const int from = need(fine, "image8", view), to = image(level.size, Element::u8, fine.info.channels);
      add(halve, {}, {}, {{from, {}}, {to, {}}});
      level.put("image", view, to);
    }
    Scope coarse_features{level, none, context_of(range, level)};
    run(pipeline_.cost, coarse_features);
    scales.levels.push_back(std::move(level));
  }
  return scales;
}

// In the row tiles of a fused rule, if it serves, else in those of the stages.
void Composer::match_row_tiles(Scales& scales, bool from_right, const StageParameters& select, Maps& maps) {
  const Size size = scales.levels[0].size;
  const int disparities = scales.range.count;
  if (request_.stripe_rows > 0)
    return compose_row_tiles(scales, from_right, select, maps, std::min(request_.stripe_rows, size.height));
  const std::size_t steps = steps_.size(), values = program_.values_.size();
  if (request_.fused)
    for (const Rule* rule : registry().rules) {
      if (rule->tile_rows == nullptr || request_.target.device != On::gpu) continue;
      const int rows = even_tiles(size.height, rule->tile_rows(size, disparities, request_.target));
      Scales attempt = scales;
      compose_row_tiles(attempt, from_right, select, maps, rows);
      if (fuses_from(steps)) {
        scales = std::move(attempt);
        return;
      }
      steps_.resize(steps);
      program_.values_.resize(values);
    }
  const auto& filter = pipeline_.aggregation.parameters.as<guided::Parameters>();
  compose_row_tiles(scales, from_right, select, maps, tile_rows(filter, size, disparities, request_.target));
}

bool Composer::fuses_from(std::size_t first_step) const {
  std::vector<Step> steps(steps_.begin() + static_cast<std::ptrdiff_t>(first_step), steps_.end());
  fuse(steps, program_.values_, request_.target);
  return std::none_of(steps.begin(), steps.end(),
                      [&](const Step& s) { return s.entry == pipeline_.aggregation.entry; });
}

void Composer::compose_row_tiles(Scales& scales, bool from_right, const StageParameters& select, Maps& maps, int height) {
  Images& finest = scales.levels[0];
  const bool many = height < finest.size.height;  // their times are one
  const char* const title = many ? "cost volume, guided filter, winner takes all" : "";
  const auto weights = cross_scale::weights(scales.parameters);
  for (int first = 0; first < finest.size.height; first += height) {
    const Rows rows{first, std::min(first + height, finest.size.height)};
    const int costs = filtered_costs(scales, 0, from_right, rows, many);
    for (int s = 1; s < scales.count(); ++s) {
      const Rows coarse_rows = rows_at(rows, s);
      const int coarse = filtered_costs(scales, s, from_right, coarse_rows, many);
      const cross_scale::Level level{
          s,          from_right,       scales.range_at(0, from_right).min, scales.range_at(s, from_right).min,
          rows.first, coarse_rows.first};
      add(registry().at("couple"), cross_scale::Coupling{level, s == 1 ? weights[0] : 1.0f, weights[s]}, {},
          {{coarse, {}}, {costs, {}}}, title);
    }
    Maps selected = maps;
    selected["costs"] = costs;
    Scope scope{finest, selected, context_of(scales.range_at(0, from_right), finest), rows};
    scope.context.from_right = from_right;
    run(*pipeline_.select.entry, select, scope, title);
  }
}

// A volume of the filtered costs of some rows of a level.
int Composer::filtered_costs(Scales& scales, int s, bool from_right, Rows rows, bool many) {
  const char* const title = many ? "cost volume, guided filter, winner takes all" : "";
  guided::Parameters filter = pipeline_.aggregation.parameters.as<guided::Parameters>();
  if (s > 0) filter.radius = scales.parameters.radius;
  Images& level = scales.levels[s];
  const Rows read = rows_around(rows, filter.radius, level.size.height);
  Maps maps;
  Scope scope{level, maps, context_of(scales.range_at(s, from_right), level), read};
  scope.context.from_right = from_right;
  run(registry().at("cost_volume"), {}, scope, title);
  scope.context.rows = {rows.first - read.first, rows.last - read.first};
  run(*pipeline_.aggregation.entry, filter, scope, title);
  return maps["costs"];
}

}  // namespace stereopsis
