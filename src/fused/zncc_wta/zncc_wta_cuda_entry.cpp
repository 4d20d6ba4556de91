// Registers the tuned CUDA kernels for the correlation and the selection in both views.
#include "fused/zncc_wta/zncc_wta_cuda.hpp"
#include "fused/zncc_wta/zncc_wta_entry.hpp"

namespace stereopsis::zncc_wta {
namespace {

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "zncc_wta_cuda",
    .title = "matching of both views",
    .ports = ports(),
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        cuda(c.as<FusedParameters>().parameters, input_of(c), wta::output_of(c), c.scratch(),
                             c.worker());
                      }},
    .check = [](const Shape& s) { check(s.context.range.count); },
    .scratch = {.gpu =
                    [](const Shape& s) { return cuda_workspace_bytes(s.as<FusedParameters>().parameters, s.size()); }},
    .work = work};

Step fuse(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step step = fused(run, tuned);
  const auto& [p, bits] = step.parameters.as<FusedParameters>();
  const bool wants_confidence = step.output("confidence").value >= 0;
  if (!cuda_serves(p, bits, step.context.range.count, wants_confidence))
    return {.note = "the tuned kernels make whole disparities from 8-bit samples, without confidence"};
  return step;
}

const Rule rule{.name = "zncc_wta_cuda",
                .run = {"zncc", "wta", "zncc_flat"},
                .fuse = fuse,
                .operation = &tuned,
                .examples = {"zncc"}};

}  // namespace

void register_tuned(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::zncc_wta
