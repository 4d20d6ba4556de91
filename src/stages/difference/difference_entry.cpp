// Registers the words of both costs, which cost_volume evaluates.
#include "graph/registry.hpp"
#include "stages/cost/cost.hpp"
#include "stages/difference/difference.hpp"

namespace stereopsis::difference {
namespace {

constexpr auto to_words = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

constexpr const char* image_of(Space space) {
  switch (space) {
    case Space::grey: return "grey8";
    case Space::rgb: return "rgb";
    case Space::hsv: return "colours";
    default: return "lab";
  }
}

template <class P>
StageDescriptor entry_of(const char* title, std::vector<std::vector<std::string>> examples) {
  return {.slot = Slot::cost,
          .name = P::stage,
          .title = title,
          .parameters = P{},
          .ports =
              [](const P& p) {
                return Ports{in(image_of(p.space), both), out("words", Element::u32, both)};
              },
          .functions = on_every_device([](const auto& c) {
            const Space space = c.template as<P>().space;
            const auto words = c.template images<std::uint32_t>("words");
            if (space == Space::grey)
              in_turn(to_words, c, space, c.template images<const std::uint8_t>(image_of(space)), words);
            else
              in_turn(to_words, c, space, c.template images<const std::uint32_t>(image_of(space)), words);
          }),
          .facets = {WordCosts{.cost = [](const P& p) -> WordCost { return p.kind(); }}},
          .examples = std::move(examples)};
}

const StageDescriptor absolute =
    entry_of<Absolute>("absolute difference", {{}, {"space=grey"}, {"space=hsv"}, {"space=lab"}});
const StageDescriptor squared = entry_of<Squared>("squared difference", {{"space=lab", "truncation=12"}});

}  // namespace

void register_stage(Registry& registry) {
  registry.add(absolute);
  registry.add(squared);
}

}  // namespace stereopsis::difference
