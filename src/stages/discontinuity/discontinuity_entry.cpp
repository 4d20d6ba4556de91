#include "graph/registry.hpp"
#include "stages/discontinuity/discontinuity.hpp"

namespace stereopsis::discontinuity {
namespace {

constexpr auto adjust = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "discontinuity",
    .title = "discontinuity adjustment",
    .parameters = Parameters{},
    .ports = {in("disparity"), in_volume("costs", {Element::u16}), out("disparity", Element::f32)},
    .functions = on_every_device([](const auto& c) {
      adjust(c, c.template as<Parameters>(), c("costs"), c.context.range.min, c("disparity"), c("disparity"));
    }),
    .required_input = required_input,
    .work = [](const Shape& s) { return Work{.bytes = 8 * s.pixels()}; },
    .facets = {KeepsInvalid{}},
    .examples = {{}, {"edge=0.5"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::discontinuity
