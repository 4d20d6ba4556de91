#include "stages/shared/row_tiles.hpp"

#include <algorithm>

#include "graph/region.hpp"

namespace stereopsis::row_tiles {
namespace {

constexpr const char* title_of_many = "cost volume, guided filter, winner takes all";

// Returns the rows of a level that correspond to rows of the finest level.
Rows rows_at(Rows rows, int level) { return {rows.first >> level, ((rows.last - 1) >> level) + 1}; }

StageParameters filter_at(const PipelineData& p, const Levels& levels, int level) {
  StageParameters filter = p.aggregation.parameters;
  if (level > 0) levels.set_filter(levels.parameters, filter);
  return filter;
}

// Returns the number of rows that the filter reads above and below a row.
int reach_of(const PipelineData& p, const StageParameters& filter) {
  return -p.aggregation.entry->required_input(filter, {0, 0, 1, 1}).y;
}

// Returns the height for tiles of nearly equal height, which is at most `tallest`.
int even_tiles(int rows, int tallest) {
  const int most = std::clamp(tallest, 16, std::max(rows, 16)), tiles = (rows + most - 1) / most;
  return (rows + tiles - 1) / tiles;
}

class Tiles {
 public:
  Tiles(Builder& b, const Levels& levels, Images& finest, const DisparityRange& range)
      : b_(b), levels_(levels), range_(range) {
    make_features(finest);
    images_.push_back(finest);
    for (int level = 1; level < levels.count; ++level) images_.push_back(halved(images_.back()));
  }

  // Adds the steps that compute the maps, in the tiles of a fused rule if it applies, and otherwise in the tiles of the
  // stages.
  void match(bool from_right, const StageParameters& select, Maps& maps) {
    const PipelineData& p = b_.pipeline();
    const Size size = images_[0].size;
    if (b_.stripe_rows() > 0) return add_tiles(std::min(b_.stripe_rows(), size.height), from_right, select, maps);
    if (b_.is_fused() && b_.target().device == On::gpu)
      for (const Rule* rule : registry().rules) {
        if (rule->tile_rows == nullptr) continue;
        const auto before = images_;
        const Builder::Mark mark = b_.mark();
        add_tiles(even_tiles(size.height, rule->tile_rows(size, range_.count, b_.target())), from_right, select, maps);
        if (b_.fuses_all_of(*p.aggregation.entry, mark)) return;
        b_.rewind(mark);
        images_ = before;
      }
    const int tallest =
        p.aggregation.facet<RowTiles>()->rows(p.aggregation.parameters, size, range_.count, b_.target());
    add_tiles(even_tiles(size.height, tallest), from_right, select, maps);
  }

 private:
  void make_features(Images& images) {
    Maps none;
    Scope scope{images, none, b_.context_of(range_, images)};
    b_.run(b_.pipeline().cost, scope);
  }

  Images halved(Images& fine) {
    const StageDescriptor& halve = registry().at(levels_.halve);
    Images level{{Element::u8, fine.info.channels}, halve.facet<ImageShape>()->size({}, fine.size), {}};
    for (const int view : {0, 1}) {
      const int from = b_.need(fine, "image8", view), to = b_.image(level.size, Element::u8, fine.info.channels);
      b_.add(halve, {}, {}, {{"image8", from}}, {{"image8", to}});
      level.put("image", view, to);
    }
    make_features(level);
    return level;
  }

  DisparityRange range_at(int level, bool from_right) const {
    if (levels_.range_at != nullptr) return levels_.range_at(range_, level, from_right);
    return seen_from(range_, from_right);
  }

  void add_tiles(int height, bool from_right, const StageParameters& select, Maps& maps) {
    Images& finest = images_[0];
    const std::string title = height < finest.size.height ? title_of_many : "";  // many tiles share one time
    for (int first = 0; first < finest.size.height; first += height) {
      const Rows rows{first, std::min(first + height, finest.size.height)};
      const int costs = filtered_costs(0, from_right, rows, title);
      for (int level = 1; level < levels_.count; ++level) {
        const Rows coarse_rows = rows_at(rows, level);
        const int coarse = filtered_costs(level, from_right, coarse_rows, title);
        levels_.couple(
            b_, levels_.parameters,
            {level, from_right, range_at(0, from_right), range_at(level, from_right), rows, coarse_rows, costs, coarse},
            title);
      }
      Maps selected = maps;
      selected["costs"] = costs;
      Scope scope{finest, selected, b_.context_of(range_at(0, from_right), finest), rows};
      scope.context.from_right = from_right;
      b_.run(*b_.pipeline().select.entry, select, scope, title);
    }
  }

  // Adds the steps for a volume of the filtered costs of some rows of a level, and returns its index.
  int filtered_costs(int level, bool from_right, Rows rows, const std::string& title) {
    const PipelineData& p = b_.pipeline();
    const StageParameters filter = filter_at(p, levels_, level);
    Images& images = images_[static_cast<std::size_t>(level)];
    const int reach = reach_of(p, filter);
    const Rows read{std::max(rows.first - reach, 0), std::min(rows.last + reach, images.size.height)};
    Maps maps;
    Scope scope{images, maps, b_.context_of(range_at(level, from_right), images), read};
    scope.context.from_right = from_right;
    scope.word_cost = word_cost_of(p.cost);
    const StageDescriptor& volume = registry().with<WordVolume>();
    b_.run(volume, volume.parameters, scope, title);
    scope.context.rows = {rows.first - read.first, rows.last - read.first};
    b_.run(*p.aggregation.entry, filter, scope, title);
    return maps["costs"];
  }

  Builder& b_;
  const Levels& levels_;
  const DisparityRange range_;
  std::vector<Images> images_;  // images of each level, from the finest to the coarsest
};

}  // namespace

bool applies(const PipelineData& p, const Request& request) { return uses_row_tiles(p) && !request.requests_costs(); }

void match(Builder& b, const Levels& levels, Images& images, const DisparityRange& range, Maps& maps) {
  const StageChoice& select = b.pipeline().select;
  Tiles tiles(b, levels, images, range);
  tiles.match(false, select.parameters, maps);
  if (!maps.contains("right")) return;
  Maps right{{"disparity", maps["right"]}, {"validity", b.image(images.size, Element::u8)}};
  tiles.match(true, select.facet<OtherView>()->parameters(select.parameters), right);
}

// Returns the required input. With refinements, it consists of whole rows, because a fill may search the rows.
Rect required_input(const PipelineData& p, const Request& request, const Levels& levels) {
  // Limits for a rank window of 15×15, and for a weighted median.
  constexpr int widest_feature = 7, widest_refinement = 32;
  const Rect all = whole_image(request);
  const DisparityRange& range = request.range;
  const int coarsest = 1 << (levels.count - 1);
  const bool rates = rates_pixels(p, request);
  const bool refines = rates || std::ranges::any_of(p.refinements, [](const StageChoice& r) { return r.enabled; });
  int reach = reach_of(p, p.aggregation.parameters);
  if (levels.count > 1) reach = std::max(reach, reach_of(p, filter_at(p, levels, 1)));
  const int margin = (reach + widest_feature + 1) * coarsest + (refines ? widest_refinement : 0);
  Rect r = *request.region;
  if (p.density) r = p.density.entry->required_input(p.density.parameters, r);
  if (rates) r = p.confidence.entry->required_input(p.confidence.parameters, r);
  r = grow(r, margin, margin);
  const int left = refines ? all.width : std::max(0, range.max()),
            right = refines ? all.width : std::max(0, -range.min);
  r = {r.x - left, r.y, r.width + left + right, r.height};
  const int x = std::max(r.x, 0) / coarsest * coarsest, y = std::max(r.y, 0) / coarsest * coarsest;
  return intersect({x, y, r.x + r.width - x, r.y + r.height - y}, all);
}

}  // namespace stereopsis::row_tiles
