// Registers the matching cost of learned features: features of both views, in scratch memory, and the volume computed
// from them.
#include "graph/registry.hpp"
#include "stages/learned_features/learned_features.hpp"

namespace stereopsis::learned_features {
namespace {

const Network& network_of(const Shape& s) { return s.as<Parameters>().weights.network(); }

constexpr auto make_costs = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto left = c.template image<const std::uint8_t>("grey8"),
             right = c.template image<const std::uint8_t>("grey8", Side::other);
  const auto costs = c.template volume<std::uint8_t>("costs");
  const int min = c.context.range.min;
  if constexpr (device_of<decltype(c)> == On::oracle)
    cost_oracle(p, left, right, min, costs);
  else if constexpr (device_of<decltype(c)> == On::cpu)
    cost_cpu(p, left, right, min, costs, c.scratch(), c.worker());
  else
    cost_gpu(p, c.constants().template as<const std::int32_t>(), left, right, min, costs, c.scratch(), c.worker());
};

Work work_of(const Shape& s) {
  const int groups = groups_of(network_of(s).components());
  return {.bytes = s.cells() + s.pixels() * 2 * (1 + 8 * groups),
          .int_ops = operations(s.as<Parameters>(), s.pixels(), s.cells())};
}

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "learned",
    .title = "learned cost",
    .parameters = Parameters{},
    .ports = {in("grey8", both), out_volume("costs", Element::u8)},
    .functions = on_every_device(make_costs),
    .required_input = [](const Parameters& p,
                         const Rect& output) { return required_input(p.weights.network(), output); },
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return cost_scratch_bytes(network_of(s), s.size(), s.disparities(), s.target.threads);
                    },
                .gpu = [](const Shape& s) { return features_scratch_bytes(network_of(s), s.size()); }},
    .work = work_of,
    .facets =
        {Costs{.units = [](const Parameters& p) { return CostUnits{.largest = 1.0 * p.weights.network().cost_limit}; }},
         Constants{.list = [](const Parameters& p) -> std::span<const std::int32_t> { return p.weights.on_gpu(); }}},
    .examples = {{}, {"weights=learned16", "scale=24"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::learned_features
