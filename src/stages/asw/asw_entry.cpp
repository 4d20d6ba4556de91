#include "graph/facets.hpp"
#include "graph/registry.hpp"
#include "stages/asw/asw.hpp"

namespace stereopsis::asw {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto left = c.template image<const std::uint32_t>("lab"),
             right = c.template image<const std::uint32_t>("lab", Side::other);
  const auto costs = c.template volume<const std::uint8_t>("costs");
  const auto aggregated = c.template volume<std::uint16_t>("costs");
  const int min = c.context.range.min;
  aggregate(c, p, left, right, min, costs, aggregated);
};

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "asw",
    .title = "adaptive support weights",
    .parameters = Parameters{},
    .ports = {in("lab", both), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions = on_every_device(run),
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
