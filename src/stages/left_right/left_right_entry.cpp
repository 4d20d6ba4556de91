#include "graph/registry.hpp"
#include "stages/left_right/left_right.hpp"

namespace stereopsis::left_right {
namespace {

constexpr auto check_views = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "left_right",
                            .title = "left-right check",
                            .parameters = Parameters{},
                            .ports = {in("right"), change("disparity"), change("validity")},
                            .functions = on_every_device([](const auto& c) {
                              check_views(c, c.template as<Parameters>(), c("right"), c("disparity"), c("validity"));
                            }),
                            .facets = {Support{.spans_range = true}, KeepsInvalid{}},
                            .examples = {{}, {"compare=same"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::left_right
