// Registers semi-global matching and the selection as one operation: from features, for the CPU and for the portable
// kernels in stripes, and from a volume of costs, for the CPU.
#include "fused/sgm_wta/sgm_wta_entry.hpp"

namespace stereopsis::sgm_wta {
namespace {

constexpr auto match = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor portable{
    .slot = Slot::internal,
    .name = "sgm_wta",
    .title = "semi-global matching",
    .ports = ports(),
    .functions = on_cpu_and_gpu([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      cost::with_followed_kind(p.cost, [&](const auto& kind) { match(c, p, input_of(c, kind), wta::output_of(c)); });
    }),
    .scratch = {.cpu =
                    [](const Shape& s) {
                      const auto& p = s.as<Parameters>();
                      std::size_t bytes = 0;
                      cost::with_followed_kind(p.cost, [&](const auto& kind) {
                        bytes = workspace_bytes(p, kind, s.size(), s.context.range.count, s.target.threads,
                                                s.context.stripe_rows);
                      });
                      return bytes;
                    },
                .gpu =
                    [](const Shape& s) {
                      return gpu_workspace_bytes(s.as<Parameters>(), s.size(), s.context.range.count,
                                                 s.context.stripe_rows);
                    }},
    .work = work};

const Rule rule{.name = "sgm_wta",
                .run = {"cost_volume", "sgm", "wta"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"banz-sgm", "sgm", "sgm cost.census_weight=1", "banz-sgm optimisation.paths=4"}};

const StageDescriptor from_volume{
    .slot = Slot::internal,
    .name = "sgm_wta_volume",
    .title = "semi-global matching",
    .ports = wta::selecting(
        {in_volume("costs", {Element::u8}), if_there("grey8"), if_there("paths_above"), if_there("paths_below")}),
    .functions = on_cpu([](const Call<On::cpu>& c) {
      const auto& p = c.as<Parameters>();
      const auto costs = c.volume<const std::uint8_t>("costs");
      cpu(p,
          Input<cost::Given>{cost::given_source(p.sgm.largest_cost, costs), c.image<const std::uint8_t>("grey8"),
                             wta::input_of(c), costs.disparities, c.context.stripe_rows, sgm::edges_of(c)},
          wta::output_of(c), c.scratch(), c.worker());
    }),
    .scratch = {.cpu =
                    [](const Shape& s) {
                      const auto& p = s.as<Parameters>();
                      return workspace_bytes(p, cost::Given{p.sgm.largest_cost}, s.size(), s.disparities(),
                                             s.target.threads, s.context.stripe_rows);
                    }},
    .work = [](const Shape& s) {
      return Work{.bytes = 4 * s.cells(), .path_ops = 11 * s.cells() * s.as<Parameters>().sgm.paths};
    }};

Step fuse_volume(const Run& run) {
  const Step &paths = run.steps[0], &selection = run.steps[1];
  if (selection.context.from_right) return {.note = "it selects for the left view"};
  if (run.shape(paths.input("costs")).element != Element::u8) return {.note = "it follows costs of 8 bits"};
  return fused_step(from_volume,
                    Parameters{paths.parameters.as<sgm::Parameters>(), selection.parameters.as<wta::Parameters>()},
                    run.steps);
}

const Rule volume_rule{.name = "sgm_wta_volume",
                       .run = {"sgm", "wta"},
                       .fuse = fuse_volume,
                       .operation = &from_volume,
                       .examples = {"sgm cost.stage=absolute_difference", "banz-sgm aggregation.stage=box"}};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(rule);
  registry.add(volume_rule);
}

}  // namespace stereopsis::sgm_wta
