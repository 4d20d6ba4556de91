#include "graph/registry.hpp"
#include "stages/colour_gradient/colour_gradient.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::colour_gradient {
namespace {

constexpr auto transform = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "colour_gradient",
    .title = "colour + gradient",
    .parameters = Parameters{},
    .ports = {in("image8", both), in("grey8", both), out("words", Element::u64, both)},
    .functions = on_every_device(
        [](const auto& c) { in_turn(transform, c, c.both("image8"), c.both("grey8"), c.both("words")); }),
    .required_input = [](const StageParameters&, const Rect& output) { return required_input(output); },
    .facets = {WordCosts{.cost = [](const Parameters& p) -> WordCost { return kind(p); }}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::colour_gradient
