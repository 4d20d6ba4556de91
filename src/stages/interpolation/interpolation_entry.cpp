#include "graph/descriptor.hpp"
#include "stages/interpolation/interpolation.hpp"

namespace stereopsis::interpolation {
namespace {

constexpr auto interpolate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "interpolation",
    .title = "interpolation by kind",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("disparity"), in("image8"), in("kinds"), change("validity"), out("disparity", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const typename C::template Of<InputOf> in{c.template image<const float>(0),
                                                c.template image<const std::uint8_t>(1),
                                                c.template image<const std::uint8_t>(2)};
      interpolate(c, c.template as<Parameters>(), in, c.template image<float>(4), c.template image<std::uint8_t>(3));
    }),
    .global_support = true};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::interpolation
