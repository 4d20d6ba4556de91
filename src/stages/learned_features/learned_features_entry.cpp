// The matching cost of learned features: features of both views, in scratch memory, and the volume that they give.
#include "graph/descriptor.hpp"
#include "stages/learned_features/learned_features.hpp"

namespace stereopsis::learned_features {
namespace {

const Network& network_of(const Shape& s) { return s.as<Parameters>().weights.network(); }

constexpr auto make_costs = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto left = c.template image<const std::uint8_t>(0), right = c.template image<const std::uint8_t>(1);
  const auto costs = c.template volume<std::uint8_t>(2);
  const int min = c.context.range.min;
  if constexpr (device_of<decltype(c)> == On::oracle)
    cost_oracle(p, left, right, min, costs);
  else if constexpr (device_of<decltype(c)> == On::cpu)
    cost_cpu(p, left, right, min, costs, c.scratch(), c.worker());
  else
    cost_gpu(p, c.constants().template as<const std::int32_t>(), left, right, min, costs, c.scratch(), c.worker());
};

std::size_t scratch_of(const Shape& s) {
  if (s.target.device == On::gpu) return features_scratch_bytes(network_of(s), s.size());
#ifdef STEREOPSIS_SIMD
  if (s.target.device == On::cpu)
    return cost_scratch_bytes(network_of(s), s.size(), s.operand(2).disparities, s.target.threads);
#endif
  return 0;
}

Work work_of(const Shape& s) {
  const int groups = groups_of(network_of(s).components());
  return {.bytes = s.cells(2) + s.pixels() * 2 * (1 + 8 * groups),
          .int_ops = operations(s.as<Parameters>(), s.pixels(), s.cells(2))};
}

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "learned",
    .title = "learned cost",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("grey8", both), out_volume("costs", Element::u8)};
        },
    .functions = on_every_device(make_costs),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>().weights.network(), output); },
    .scratch = scratch_of,
    .work = work_of,
    .constants = [](const StageParameters& p) -> std::span<const std::int32_t> {
      return p.as<Parameters>().weights.on_gpu();
    },
    .units =
        [](const StageParameters& p) {
          return CostUnits{.largest = 1.0 * p.as<Parameters>().weights.network().cost_limit};
        },
    .examples = {{}, {"weights=learned16", "scale=24"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::learned_features
