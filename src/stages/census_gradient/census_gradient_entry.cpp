#include "graph/descriptor.hpp"
#include "stages/census_gradient/census_gradient.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::census_gradient {
namespace {

constexpr auto transform = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "census_gradient",
    .title = "census + gradient",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("grey", both), in("grey8", both), out("words", Element::u32, both)};
        },
    .functions = on_every_device([](const auto& c) {
      c.with_pixels(0, [&]<class T>() {
        for (const int v : {0, 1})
          transform(c, c.template image<const T>(v), c.template image<const std::uint8_t>(2 + v),
                    c.template image<std::uint32_t>(4 + v));
      });
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .work =
        [](const Shape& s) {
          const int bytes = bytes_of(s.operand(0).element);
          const double pixels = 2 * s.pixels();
          return Work{.bytes = (bytes + 4) * pixels, .int_ops = 0.5 * 24 * bytes * pixels};
        },
    .word_cost = [](const StageParameters& p) -> WordCost {
      return cost::CensusGradient{p.as<Parameters>().census_weight, p.as<Parameters>().gradient_limit};
    }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::census_gradient
