#include "graph/descriptor.hpp"
#include "stages/weighted_median/weighted_median.hpp"

namespace stereopsis::weighted_median {
namespace {

constexpr auto filter = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "weighted_median",
    .title = "weighted median",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("disparity"), in("validity"), in("image8"), out("disparity", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const typename C::template Of<InputOf> input{c.template image<const float>(0),
                                                   c.template image<const std::uint8_t>(1),
                                                   c.template image<const std::uint8_t>(2)};
      filter(c, c.template as<Parameters>(), input, c.template image<float>(3));
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::weighted_median
