#include "graph/registry.hpp"
#include "stages/sum/sum.hpp"

namespace stereopsis::sum {
namespace {

constexpr auto add = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "sum",
    .title = "sum of costs",
    .parameters = Parameters{},
    .ports = {in_volume("costs", {Element::u8}), change_volume("plus_costs", {Element::u8})},
    .functions =
        on_every_device([](const auto& c) { add(c, c.template as<Parameters>(), c("costs"), c("plus_costs")); }),
    .work = [](const Shape& s) { return Work{.bytes = 3 * s.cells(), .int_ops = 4 * s.cells()}; },

    .facets = {Summation{
        .largest = [](const Parameters& p, double first, double second) { return largest(p, first, second); }}},
    .examples = {{}, {"cost_weight=255", "plus_weight=26"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::sum
