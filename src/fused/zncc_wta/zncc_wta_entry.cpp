// Registers the correlation, the selection in both views and the marking of flat windows as one operation.
#include "fused/zncc_wta/zncc_wta_entry.hpp"

namespace stereopsis::zncc_wta {
namespace {

constexpr auto match = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor portable{
    .slot = Slot::internal,
    .name = "zncc_wta",
    .title = "matching of both views",
    .ports = ports(),
    .functions = on_cpu_and_gpu(
        [](const auto& c) { match(c, c.template as<FusedParameters>().parameters, input_of(c), wta::output_of(c)); }),
    .check = [](const Shape& s) { check(s.context.range.count); },
    .scratch = {.cpu =
                    [](const Shape& s) {
                      const auto& [p, bits] = s.as<FusedParameters>();
                      return workspace_bytes(p, s.size(), bits, s.context.range.count, s.target.threads);
                    },
                .gpu =
                    [](const Shape& s) {
                      const Parameters& p = s.as<FusedParameters>().parameters;
                      return gpu_workspace_bytes(p, s.size(), s.context.range.count);
                    }},
    .work = work};

const Rule rule{.name = "zncc_wta",
                .run = {"zncc", "wta", "zncc_flat"},
                .fuse = [](const Run& run) { return fused(run, portable); },
                .operation = &portable,
                .examples = {"zncc", "zncc select.subpixel=parabola"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::zncc_wta
