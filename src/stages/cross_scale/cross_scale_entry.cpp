#include "stages/cross_scale/cross_scale_entry.hpp"
#include "core/text.hpp"
#include "stages/shared/row_tiles.hpp"

namespace stereopsis::cross_scale {
namespace {

constexpr auto halve_image = STEREOPSIS_DISPATCH(oracle_halve, cpu_halve, gpu_halve);
constexpr auto combine = STEREOPSIS_DISPATCH(oracle_combine, cpu_combine, gpu_combine);

// Returns the search range at level `s`. If the right view is the reference view, the range is mirrored, because the
// candidates are −d.
DisparityRange range_at(const DisparityRange& range, int s, bool from_right) {
  const int min = from_right ? -range.max() : range.min, max = from_right ? -range.min : range.max();
  const int first = at_level(min, s, from_right), last = at_level(max, s, from_right);
  return {first, last - first + 1};
}

void set_filter(const StageParameters& levels, StageParameters& filter) {
  filter.set("filter", "radius", std::to_string(levels.as<Parameters>().radius));
}

void couple(Builder& b, const StageParameters& levels, const row_tiles::Levels::Coarse& c, const std::string& title) {
  const auto w = weights(levels.as<Parameters>());
  const Level level{c.level, c.from_right, c.fine_range.min, c.range.min, c.fine_rows.first, c.rows.first};
  b.add(registry().at("couple"), Coupling{level, c.level == 1 ? w[0] : 1.0f, w[static_cast<std::size_t>(c.level)]}, {},
        {{"coarse_costs", c.costs}, {"costs", c.fine_costs}}, {}, title);
}

row_tiles::Levels levels_of(const PipelineData& p) {
  return {levels_of(p.levels.parameters.as<Parameters>()), p.levels.parameters, "halve", range_at, set_filter, couple};
}

const Lowering lowering{.applies = row_tiles::applies,
                        .match = [](Builder& b, Images& images, const DisparityRange& range, Maps& maps) {
                          row_tiles::match(b, levels_of(b.pipeline()), images, range, maps);
                        }};
const RegionRule region_rule{.applies = uses_row_tiles, .required_input = [](const PipelineData& p, const Request& r) {
                               return row_tiles::required_input(p, r, levels_of(p));
                             }};

void check_pipeline(const PipelineData& p, const Request& request) {
  if (levels_of(p.levels.parameters.as<Parameters>()) == 1) return;
  const auto reject = [&](const char* why) {
    throw Error(ErrorCategory::call, text("the pipeline '", p.method, "' ", why));
  };
  if (!uses_row_tiles(p))
    reject(
        "couples the levels' filtered costs, which are those of guided on features, selected as they are; set "
        "levels.lambda = 0, or levels.stage = none");
  if (request.requests_costs()) reject("gives volumes of one level; set levels.lambda = 0");
}

const StageDescriptor entry{.slot = Slot::levels,
                            .name = "cross_scale",
                            .title = "cross-scale aggregation",
                            .parameters = Parameters{},
                            .check_pipeline = check_pipeline,
                            .facets = {&lowering, &region_rule}};

const StageDescriptor halved{
    .slot = Slot::internal,
    .name = "halve",
    .title = "half-size level",
    .ports = {in("image8"), out("image8", Element::u8)},
    .functions = on_every_device([](const auto& c) { halve_image(c, c("image8"), c("image8")); }),
    .facets = {
        ImageShape{.size = [](const StageParameters&, Size size) { return half(size); }, .keeps_channels = true}}};

const StageDescriptor coupling{
    .slot = Slot::internal,
    .name = "couple",
    .title = "coupling of levels",
    // The stage is checked with the disparities −3 to 20, and with half as many on the coarser level.
    .parameters = Coupling{{.s = 1, .min_disparity = -3, .coarse_min_disparity = -1}, 1, 0.5f},
    .ports = {in_volume("coarse_costs", {Element::f32}),
              {"costs", Port::Use::change, Element::f32, Side::reference, true}},
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Coupling>();
      combine(c, p.level, p.weight, p.coarse_weight, c("coarse_costs"), c("costs"));
    }),
    .work = [](const Shape& s) { return Work{.bytes = 8 * s.cells()}; }};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(halved);
  registry.add(coupling);
}

}  // namespace stereopsis::cross_scale
