// Registers colour differences, their aggregation by support weights, and the selection as one operation.
#include "fused/support_weight_wta/support_weight_wta_entry.hpp"

namespace stereopsis::support_weight_wta {
namespace {

const StageDescriptor portable{
    .slot = Slot::internal,
    .name = "support_weight_wta",
    .title = "support weights",
    .ports = ports(),
    .functions = on_cpu([](const auto& c) {
      cpu(c.template as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(), c.worker());
    }),
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return workspace_bytes(s.as<Parameters>(), s.size(), s.context.range.count, s.target.threads);
                    }},
    .work = work};

// On a GPU, the portable kernels of the separate stages run instead.
const Rule rule{.name = "support_weight_wta",
                .run = {"colour_difference", "esaw|asw_separable|asw", "wta"},
                .fuse = [](const Run& run) -> Step {
                  if (run.target.device == On::gpu) return {.note = "it is made for the CPU"};
                  const auto* full = run.steps[1].parameters.get_if<asw::Parameters>();
                  if (full != nullptr && full->area != asw::Area::square)
                    return {.note = "it is made for square windows"};
                  return fused(run, portable);
                },
                .operation = &portable,
                .examples = {"esaw", "esaw aggregation.normalise=end", "asw-separable", "asw aggregation.window=9"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::support_weight_wta
