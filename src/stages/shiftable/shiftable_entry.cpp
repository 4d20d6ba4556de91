#include "graph/registry.hpp"
#include "stages/shiftable/shiftable.hpp"

namespace stereopsis::shiftable {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "shiftable",
    .title = "best windows around",
    .parameters = Parameters{},
    .ports = {in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions =
        on_every_device([](const auto& c) { aggregate(c, c.template as<Parameters>(), c("costs"), c("costs")); }),
    .required_input = required_input,
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return scratch_bytes(s.as<Parameters>(), s.size().width, s.disparities(), s.target.threads);
                    },
                .gpu = [](const Shape& s) { return static_cast<std::size_t>(2 * s.cells()); }},
    .work = [](const Shape& s) { return Work{.bytes = 11 * s.cells()}; },
    .facets = {Costs{.units = CostUnits{.largest = 255 * 128, .units = 128}}},
    .examples = {{}, {"window=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::shiftable
