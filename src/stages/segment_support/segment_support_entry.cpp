#include "graph/registry.hpp"
#include "stages/segment_support/segment_support.hpp"

namespace stereopsis::segment_support {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "segment_support",
    .title = "averages over segments",
    .parameters = Parameters{},
    .ports = {in("slic"), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions = on_every_device(
        [](const auto& c) { aggregate(c, c.template as<Parameters>(), c("slic"), c("costs"), c("costs")); }),
    .global_support = true,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size(), s.disparities(), s.target.threads); }},
    .work = [](const Shape& s) { return Work{.bytes = 5 * s.cells()}; },
    .facets = {Costs{.units = CostUnits{.largest = 2 * 255 * 128, .units = 256}}},
    .examples = {{}, {"window=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::segment_support
