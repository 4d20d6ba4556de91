#include "graph/descriptor.hpp"
#include "stages/colour_gradient/colour_gradient.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::colour_gradient {
namespace {

constexpr auto transform = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "colour_gradient",
    .title = "colour + gradient",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("image8", both), in("grey8", both), out("words", Element::u64, both)};
        },
    .functions = on_every_device([](const auto& c) {
      for (const int v : {0, 1})
        transform(c, c.template image<const std::uint8_t>(v), c.template image<const std::uint8_t>(2 + v),
                  c.template image<std::uint64_t>(4 + v));
    }),
    .required_input = [](const StageParameters&, const Rect& output) { return required_input(output); },
    .word_cost = [](const StageParameters& p) -> WordCost { return kind(p.as<Parameters>()); }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::colour_gradient
