#include "graph/registry.hpp"
#include "stages/repair/repair.hpp"

namespace stereopsis::repair {
namespace {

constexpr auto repair_map = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "repair",
                            .title = "repair",
                            .parameters = Parameters{},
                            .ports = {in("disparity"), out("disparity", Element::f32), change("confidence"),
                                      scratch("between", Element::f32), change("validity")},
                            .functions = on_every_device([](const auto& c) {
                              repair_map(
                                  c, c.template as<Parameters>(),
                                  c.template of<MapsOf>(c.template as_image<float>(c.input("disparity")),
                                                        c("disparity"), c("confidence"), c("between"), c("validity")));
                            }),
                            .required_input = required_input,
                            .work = [](const Shape& s) { return Work{.bytes = 3 * 18 * s.pixels()}; }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::repair
