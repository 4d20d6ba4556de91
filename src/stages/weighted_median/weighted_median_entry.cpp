#include "graph/registry.hpp"
#include "stages/weighted_median/weighted_median.hpp"

namespace stereopsis::weighted_median {
namespace {

constexpr auto filter = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "weighted_median",
                            .title = "weighted median",
                            .parameters = Parameters{},
                            .ports = {in("disparity"), in("validity"), in("image8"), out("disparity", Element::f32)},
                            .functions = on_every_device([](const auto& c) {
                              filter(c, c.template as<Parameters>(),
                                     c.template of<InputOf>(c("disparity"), c("validity"), c("image8")),
                                     c("disparity"));
                            }),
                            .required_input = required_input,
                            .facets = {KeepsInvalid{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::weighted_median
