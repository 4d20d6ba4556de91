#include "graph/registry.hpp"
#include "stages/cross/cross.hpp"

namespace stereopsis::cross {
namespace {

constexpr auto make_arms = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::image,
                            .name = "cross",
                            .title = "cross-based regions",
                            .parameters = Parameters{},
                            .ports = {in("image8"), out("cross", Element::u32)},
                            .functions = on_every_device([](const auto& c) {
                              make_arms(c, c.template as<Parameters>(), c("image8"), c("cross"));
                            }),
                            .required_input = required_input,
                            .check = [](const Shape& s) { check(s.as<Parameters>(), s.size()); },
                            .examples = {{}, {"length=10", "short_length=3", "color=60", "strict_color=30"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::cross
