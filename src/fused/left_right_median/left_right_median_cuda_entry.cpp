// The left-right check and the median of its maps: the tuned kernel of CUDA does both in one pass.
#include "fused/left_right_median/left_right_median.hpp"
#include "graph/descriptor.hpp"

namespace stereopsis::left_right_median {
namespace {

const StageDescriptor tuned{
    .slot = Slot::internal,
    .name = "left_right_median",
    .title = "left-right check, median",
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("right"), in("disparity"), change("validity"), out("disparity", Element::f32)};
        },
    .functions = {.gpu = [](const Call<On::gpu>& c) {
      cuda(c.as<left_right::Parameters>(), c.image<const float>(0), c.image<const float>(1), c.image<std::uint8_t>(2),
           c.image<float>(3), c.worker());
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
                  return {&tuned,        check.parameters,
                          check.context, {check.operands[0], check.operands[1], check.operands[2], filter.operands[1]},
                          tuned.title,   {}};
                },
                .operation = &tuned,
                .examples = {"banz-sgm left_right.enabled=true"}};

}  // namespace

void register_stage(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::left_right_median
