#include "graph/registry.hpp"
#include "stages/box/box.hpp"

namespace stereopsis::box {
namespace {

constexpr auto average = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "box",
    .title = "averages over a window",
    .parameters = Parameters{},
    .ports = {in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions =
        on_every_device([](const auto& c) { average(c, c.template as<Parameters>(), c("costs"), c("costs")); }),
    .required_input = required_input,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size().width, s.disparities(), s.target.threads); }},
    .facets = {Costs{.units = CostUnits{.largest = 255 * 128, .units = 128}}},
    .examples = {{}, {"window_width=5", "window_height=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::box
