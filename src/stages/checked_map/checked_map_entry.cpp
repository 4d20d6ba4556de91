#include "graph/registry.hpp"
#include "stages/checked_map/checked_map.hpp"

namespace stereopsis::checked_map {
namespace {

constexpr auto check = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// From the right view, the range of a step is that of −d.
Parameters parameters_of(const StepContext& context) {
  const DisparityRange& r = context.range;
  return context.from_right ? Parameters{-r.max(), -r.min, true} : Parameters{r.min, r.max(), false};
}

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "checked_map",
    .title = "checks of the map",
    .ports = {change("disparity"), wanted("validity", Element::u8), if_there("confidence"), if_there("mask")},
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      check(c, parameters_of(c.context),
            C::template of<Maps>(c("disparity"), c("validity"), C::template as_image<float>(c.operand("confidence")),
                                 c("mask")));
    }),
    .work = [](const Shape& s) { return Work{.bytes = 9 * s.pixels()}; },
    .facets = {MapCheck{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::checked_map
