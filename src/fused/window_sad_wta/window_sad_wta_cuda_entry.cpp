// Registers the tuned CUDA kernels of window matching and the selection.
#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"
#include "fused/window_sad_wta/window_sad_wta_entry.hpp"

namespace stereopsis::window_sad_wta {
namespace {

const StageDescriptor tuned{.slot = Slot::internal,
                            .name = "window_sad_wta_cuda",
                            .title = "window matching",
                            .ports = ports(),
                            .functions = {.gpu =
                                              [](const Call<On::gpu>& c) {
                                                cuda(c.as<Parameters>(), input_of(c), wta::output_of(c), c.worker());
                                              }},
                            .work = work};

Step fuse(const Run& run) {
  const Step step = fused(run, tuned);
  if (step.input("mask").value >= 0 || step.input("mask", Side::other).value >= 0)
    return {.note = "the tuned kernels take no masks"};
  const bool serves = with_planned_call(run, step, [&](const auto& c) {
    return cuda_serves(run.target, c.template as<Parameters>(), input_of(c), wta::output_of(c));
  });
  if (!serves)
    return {.note =
                "the tuned kernels take square windows and whole disparities of the left view, from compute "
                "capability 8.0 on; wide windows take a GPU with much shared memory"};
  return step;
}

const Rule rule{.name = "window_sad_wta_cuda",
                .run = {"window_sad", "wta"},
                .fuse = fuse,
                .operation = &tuned,
                .examples = {"prehn-window"}};

}  // namespace

void register_tuned(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::window_sad_wta
