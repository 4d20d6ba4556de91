#include <algorithm>

#include "graph/descriptor.hpp"
#include "graph/pipeline.hpp"
#include "stages/guided/guided.hpp"
#include "stages/shared/row_tiles.hpp"

namespace stereopsis::guided {
namespace {

constexpr auto filter = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

// How tall row tiles are whose volumes, with what is computed around them, take some hundred megabytes: bytes a cell of costs, of
// coefficients where they are kept, and of filtered costs.
int tile_rows(const StageParameters& p, Size size, int disparities, const Target& target) {
  const bool gpu = target.device == On::gpu;
  const double cost = 1, coefficients = gpu ? 16 : 0, filtered = 4, all = gpu ? 1.0 * (1 << 30) : 256.0 * (1 << 20);
  const double bytes = all / (static_cast<double>(size.width) * disparities);
  const double around = p.as<Parameters>().radius * (4 * cost + 2 * coefficients);
  return static_cast<int>(std::min((bytes - around) / (cost + coefficients + filtered), 1e6));
}

const Lowering lowering{.applies = row_tiles::applies,
                        .match = [](Builder& b, Images& images, const DisparityRange& range, Maps& maps) {
                          row_tiles::match(b, {}, images, range, maps);
                        }};
const RegionRule region_rule{.applies = uses_row_tiles, .required_input = [](const PipelineData& p, const Request& r) {
                               return row_tiles::required_input(p, r, {});
                             }};

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "guided",
    .title = "guided filter",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          return Ports{in(p.as<Parameters>().colour ? "image8" : "grey8"), in_volume("costs", {Element::u8}),
                       out_volume("costs", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      filter(c, c.template as<Parameters>(), c.template image<const std::uint8_t>(0),
             c.template volume<const std::uint8_t>(1), c.context.rows, c.template volume<float>(2));
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .scratch = [](const Shape& s) -> std::size_t {
      const auto& p = s.as<Parameters>();
      if (s.target.device == On::gpu)
        return gpu_scratch_bytes(p, s.size(), s.operand(0).channels, s.operand(1).disparities);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(p, s.size(), s.operand(0).channels, s.target.threads);
#endif
      return 0;
    },
    .work = [](const Shape& s) { return Work{.bytes = 5 * s.cells(1)}; },
    .separate_right_costs = true,
    .row_tiles = true,
    .tile_rows = tile_rows,
    .lowering = &lowering,
    .region_rule = &region_rule};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::guided
