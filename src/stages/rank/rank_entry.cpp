#include "graph/registry.hpp"
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
    .ports = {in("grey", both), out("words", Element::u8, both)},
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      c.with_pixels([&]<class T>() {
        const auto grey = c.template images<const T>("grey");
        const auto words = c.template images<std::uint8_t>("words");
        if constexpr (device_of<decltype(c)> == On::gpu)  // one kernel transforms both views
          transform(c, p, grey, words);
        else
          in_turn(transform, c, p, grey, words);
      });
    }),
    .required_input = required_input,
    // One comparison and one addition process as many pixels as fit in 32 bits.
    .work =
        [](const Shape& s) {
          const int window = s.as<Parameters>().window, bytes = bytes_of(s.operand("grey").element);
          const double pixels = 2 * s.pixels();
          return Work{.bytes = (bytes + 1) * pixels, .int_ops = 0.5 * window * window * bytes * pixels};
        },
    .facets = {WordCosts{.cost = [](const Parameters& p) -> WordCost { return cost::Rank{p.window}; }}},
    .examples = {{}, {"window=5"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::rank
