// Registers the tuned CUDA kernel that runs the left-right check and the median in one pass.
#include "fused/left_right_median/left_right_median.hpp"
#include "graph/registry.hpp"

namespace stereopsis::left_right_median {
namespace {

const StageDescriptor tuned{.slot = Slot::internal,
                            .name = "left_right_median",
                            .title = "left-right check, median",
                            .ports = {in("right"), in("disparity"), change("validity"), out("disparity", Element::f32)},
                            .functions = {.gpu = [](const Call<On::gpu>& c) {
                              cuda(c.as<left_right::Parameters>(), c.image<const float>("right"),
                                   c.image<const float>("disparity"), c.image<std::uint8_t>("validity"),
                                   c.image<float>("disparity"), c.worker());
                            }}};

const Rule rule{.name = "left_right_median",
                .run = {"left_right", "median"},
                .fuse = [](const Run& run) -> Step {
                  const Step &check = run.steps[0], &filter = run.steps[1];
                  if (!cuda_serves(run.target.cuda_capability, check.parameters.as<left_right::Parameters>(),
                                   filter.parameters.as<median::Parameters>()))
                    return {.note =
                                "the tuned kernel compares with the matched pixel and takes 3×3 medians, from "
                                "compute capability 8.0 on"};
                  return fused_step(tuned, check.parameters, run.steps);
                },
                .operation = &tuned,
                .examples = {"banz-sgm left_right.enabled=true"}};

}  // namespace

void register_tuned(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::left_right_median
