// Registers the tuned CUDA kernels for support weights and the selection.
#include "fused/support_weight_wta/support_weight_wta_cuda.hpp"
#include "fused/support_weight_wta/support_weight_wta_entry.hpp"

namespace stereopsis::support_weight_wta {
namespace {

template <auto serves>
Step fuse_tuned(const Run& run, const StageDescriptor& operation, const char* what) {
  if (run.target.cuda_capability < 80) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step step = fused(run, operation);
  if (with_planned_call(
          run, step, [](const auto& c) { return serves(c.template as<Parameters>(), input_of(c), wta::output_of(c)); }))
    return step;
  return {.note = std::string(what) + ", and whole disparities of the left view from all candidates, without masks"};
}

const StageDescriptor esaw_tuned{
    .slot = Slot::internal,
    .name = "support_weight_wta_cuda",
    .title = "support weights",
    .ports = ports(),
    .functions = {.gpu =
                      [](const Call<On::gpu>& c) {
                        cuda(c.as<Parameters>(), input_of(c), wta::output_of(c), c.scratch(), c.worker());
                      }},
    .scratch = {.gpu =
                    [](const Shape& s) {
                      return cuda_workspace_bytes(s.as<Parameters>(), s.size(), s.context.range.count);
                    }},
    .work = work};

const Rule esaw_rule{.name = "support_weight_wta_cuda",
                     .run = {"colour_difference", "esaw", "wta"},
                     .fuse =
                         [](const Run& run) {
                           return fuse_tuned<support_weight_wta::cuda_serves>(
                               run, esaw_tuned, "the tuned kernels take up to 65535 rows");
                         },
                     .operation = &esaw_tuned,
                     .examples = {"esaw"}};

}  // namespace

void register_tuned(Registry& registry) { registry.add(esaw_rule); }

}  // namespace stereopsis::support_weight_wta
