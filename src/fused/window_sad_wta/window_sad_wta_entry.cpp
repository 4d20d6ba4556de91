// Registers window matching and the selection as one operation.
#include "fused/window_sad_wta/window_sad_wta_entry.hpp"

namespace stereopsis::window_sad_wta {
namespace {

constexpr auto match = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor portable{
    .slot = Slot::internal,
    .name = "window_sad_wta",
    .title = "window matching",
    .ports = ports(),
    .functions =
        on_cpu_and_gpu([](const auto& c) { match(c, c.template as<Parameters>(), input_of(c), wta::output_of(c)); }),
    .scratch = {
        .cpu = [](const Shape& s) { return workspace_bytes(s.size(), s.context.range.count, s.target.threads); },
        .gpu =
            [](const Shape& s) {
              // If a tuned kernel supports pairs without masks, this operation rarely runs, and little memory is
              // reserved for it.
              const bool rarely = s.target.cuda_capability >= 80 && wta::has_masks(s);
              return gpu_workspace_bytes(s.size(), s.context.range.count, rarely);
            }},
    .work = work};

const Rule rule{.name = "window_sad_wta",
                .run = {"window_sad", "wta"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"prehn-window", "prehn-window cost.window_width=5 select.subpixel=parabola"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::window_sad_wta
