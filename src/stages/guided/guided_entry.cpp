#include <algorithm>

#include "graph/pipeline.hpp"
#include "graph/registry.hpp"
#include "stages/guided/guided.hpp"
#include "stages/shared/row_tiles.hpp"

namespace stereopsis::guided {
namespace {

constexpr auto filter = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const char* guide_of(const Parameters& p) { return p.colour ? "image8" : "grey8"; }

// Returns the height of row tiles. The volumes of a tile, including the rows around it, take some hundred megabytes.
// The numbers are bytes per cell: for costs, for coefficients if they are stored, and for filtered costs.
int tile_rows(const Parameters& p, Size size, int disparities, const Target& target) {
  const bool gpu = target.device == On::gpu;
  const double cost = 1, coefficients = gpu ? 16 : 0, filtered = 4, all = gpu ? 1.0 * (1 << 30) : 256.0 * (1 << 20);
  const double bytes = all / (static_cast<double>(size.width) * disparities);
  const double around = p.radius * (4 * cost + 2 * coefficients);
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
        [](const Parameters& p) {
          return Ports{in(guide_of(p)), in_volume("costs", {Element::u8}), out_volume("costs", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      filter(c, p, c(guide_of(p)), c("costs"), c.context.rows, c("costs"));
    }),
    .required_input = required_input,
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return scratch_bytes(s.as<Parameters>(), s.size(), s.first().channels, s.target.threads);
                    },
                .gpu =
                    [](const Shape& s) {
                      return gpu_scratch_bytes(s.as<Parameters>(), s.size(), s.first().channels, s.disparities());
                    }},
    .work = [](const Shape& s) { return Work{.bytes = 5 * s.cells()}; },
    .facets = {RightCosts{}, RowTiles{.rows = tile_rows}, &lowering, &region_rule}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::guided
