#include "graph/registry.hpp"
#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {
namespace {

constexpr auto propagate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "propagation",
    .title = "propagation",
    .parameters = Parameters{},
    .ports = {in("colours"), change("disparity"), scratch("between", Element::f32), scratch("scratch", Element::f32),
              change("validity")},
    .functions = on_every_device([](const auto& c) {
      propagate(c, c.template as<Parameters>(),
                c.template of<MapsOf>(c("colours"), c("disparity"), c("between"), c("scratch"), c("validity")));
    }),
    .global_support = true,
    .work = [](const Shape& s) { return Work{.bytes = 2 * 170 * s.pixels()}; }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::propagation
