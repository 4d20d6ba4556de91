#include "graph/registry.hpp"
#include "stages/median/median.hpp"

namespace stereopsis::median {
namespace {

constexpr auto filter = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "median",
    .title = "median",
    .parameters = Parameters{},
    .ports = {in("disparity"), out("disparity", Element::f32)},
    .functions =
        on_every_device([](const auto& c) { filter(c, c.template as<Parameters>(), c("disparity"), c("disparity")); }),
    .required_input = required_input,
    .work =
        [](const Shape& s) {
          return Work{.bytes = 8 * s.pixels(), .int_ops = (s.as<Parameters>().window == 3 ? 36 : 124) * s.pixels()};
        },
    .facets = {KeepsInvalid{}},
    .examples = {{"window=3"}, {"window=5"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::median
