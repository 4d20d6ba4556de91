#include "graph/registry.hpp"
#include "stages/outliers/outliers.hpp"

namespace stereopsis::outliers {
namespace {

constexpr auto find = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "outliers",
                            .title = "outliers by kind",
                            .parameters = Parameters{},
                            .ports = {in("right"), change("disparity"), change("validity"), out("kinds", Element::u8)},
                            .functions = on_every_device([](const auto& c) {
                              find(c, c.template as<Parameters>(), c("right"),
                                   c.template of<MapOf>(c("disparity"), c("validity"), c("kinds")));
                            }),
                            .global_support = true,
                            .facets = {KeepsInvalid{}},
                            .examples = {{}, {"threshold=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::outliers
