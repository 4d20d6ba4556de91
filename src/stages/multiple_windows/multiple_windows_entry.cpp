#include "graph/registry.hpp"
#include "stages/multiple_windows/multiple_windows.hpp"

namespace stereopsis::multiple_windows {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "multiple_windows",
    .title = "best windows beside",
    .parameters = Parameters{},
    .ports = {in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions =
        on_every_device([](const auto& c) { aggregate(c, c.template as<Parameters>(), c("costs"), c("costs")); }),
    .required_input = required_input,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size(), s.disparities(), s.target.threads); },
                .gpu = [](const Shape& s) { return static_cast<std::size_t>(2 * s.cells()); }},
    .work = [](const Shape& s) { return Work{.bytes = 7 * s.cells()}; },
    .facets = {Costs{.units = CostUnits{.largest = 255 * 128, .units = 128}}},
    .examples = {{}, {"window=3", "windows=9"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::multiple_windows
