#include "graph/descriptor.hpp"
#include "stages/cost/cost.hpp"
#include "stages/rank/rank.hpp"

namespace stereopsis::rank {
namespace {

constexpr auto transform = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "rank",
    .title = "rank",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("grey", both), out("words", Element::u8, both)};
        },
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      c.with_pixels(0, [&]<class T>() {
        if constexpr (device_of<decltype(c)> == On::gpu)  // both at once
          transform(c, p, std::array{c.template image<const T>(0), c.template image<const T>(1)},
                    std::array{c.template image<std::uint8_t>(2), c.template image<std::uint8_t>(3)});
        else
          for (const int v : {0, 1})
            transform(c, p, c.template image<const T>(v), c.template image<std::uint8_t>(2 + v));
      });
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    // A comparison, and taking note of it, of as many pixels at once as 32 bits hold.
    .work =
        [](const Shape& s) {
          const int window = s.as<Parameters>().window, bytes = bytes_of(s.operand(0).element);
          const double pixels = 2 * s.pixels();
          return Work{.bytes = (bytes + 1) * pixels, .int_ops = 0.5 * window * window * bytes * pixels};
        },
    .word_cost = [](const StageParameters& p) -> WordCost { return cost::Rank{p.as<Parameters>().window}; },
    .examples = {{}, {"window=5"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::rank
