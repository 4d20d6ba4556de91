#include <algorithm>
#include "stages/quantise/quantise.hpp"

#include "graph/descriptor.hpp"

namespace stereopsis::quantise {
namespace {

template <class T, class C>
void round_costs(const C& c) {
  const auto scale = static_cast<float>(c.template as<Parameters>().scale);
  const auto costs = c.template volume<const T>(0);
  const auto quantised = c.template volume<std::uint8_t>(1);
  if constexpr (C::device == On::oracle)
    oracle<T>(scale, costs, quantised);
  else if constexpr (C::device == On::cpu)
    cpu<T>(scale, costs, quantised, c.worker());
  else
    gpu<T>(scale, costs, quantised, c.worker());
}

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "quantise",
    .title = "costs in 8 bits",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in_volume("costs", {Element::u8, Element::u16, Element::f32}), out_volume("costs", Element::u8)};
        },
    .functions = on_every_device([](const auto& c) {
      if (c.operand(0).element == Element::f32)
        round_costs<float>(c);
      else if (c.operand(0).element == Element::u8)
        round_costs<std::uint8_t>(c);
      else
        round_costs<std::uint16_t>(c);
    }),
    .role = Role::quantise,
    .fit = [](const StageParameters& p, Element element, bool has_holes, CostUnits& units) -> StageParameters {
      // Costs of 8 bits are copied.
      const double scale =
          element == Element::u8 ? 1 : scale_of(p.as<Parameters>(), units.largest, units.units, has_holes);
      units = {std::min(255.0, scale * units.largest), 1};
      return Parameters{.scale = scale};
    },
    .examples = {{"scale=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::quantise
