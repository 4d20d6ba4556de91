#include <algorithm>

#include "graph/registry.hpp"
#include "stages/quantise/quantise.hpp"

namespace stereopsis::quantise {
namespace {

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "quantise",
    .title = "costs in 8 bits",
    .parameters = Parameters{},
    .ports = {in_volume("costs", {Element::u8, Element::u16, Element::f32}), out_volume("costs", Element::u8)},
    .functions = on_every_device([](const auto& c) {
      with_element<float, std::uint8_t, std::uint16_t>(c.first().element, [&]<class T>() {
        STEREOPSIS_DISPATCH(oracle<T>, cpu<T>, gpu<T>)
        (c, static_cast<float>(c.template as<Parameters>().scale), c.template volume<const T>("costs"), c("costs"));
      });
    }),

    .facets = {Quantisation{
        .fit = [](const Parameters& p, Element element, bool has_holes, CostUnits& units) -> StageParameters {
          // Costs of 8 bits are copied.
          const double scale = element == Element::u8 ? 1 : scale_of(p, units.largest, units.units, has_holes);
          units = {std::min(255.0, scale * units.largest), 1};
          return Parameters{.scale = scale};
        }}},
    .examples = {{"scale=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::quantise
