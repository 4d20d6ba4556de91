// Registers semi-global matching and the selection as one operation, for the CPU and for the portable kernels in
// stripes.
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

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::sgm_wta
