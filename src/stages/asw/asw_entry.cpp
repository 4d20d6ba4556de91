#include "graph/registry.hpp"
#include "stages/asw/asw.hpp"

namespace stereopsis::asw {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "asw",
    .title = "adaptive support weights",
    .parameters = Parameters{},
    .ports = {in("lab", both), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions = on_every_device([](const auto& c) {
      aggregate(c, c.template as<Parameters>(), c("lab"), c("lab", Side::other), c.context.range.min, c("costs"),
                c("costs"));
    }),
    .required_input = required_input,
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return scratch_bytes(s.as<Parameters>(), s.size().width, s.disparities(), s.target.threads);
                    }},
    .facets = {Costs{.units = CostUnits{.largest = 255 * 128, .units = 128}}},
    .examples = {{"window=9"}, {"window=33", "area=column"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::asw
