#include "graph/descriptor.hpp"
#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {
namespace {

constexpr auto propagate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "propagation",
    .title = "propagation",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("colours"), change("disparity"), scratch("between", Element::f32),
                       scratch("scratch", Element::f32), change("validity")};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      propagate(c, c.template as<Parameters>(),
                typename C::template Of<MapsOf>{c.template image<const std::uint32_t>(0), c.template image<float>(1),
                                                c.template image<float>(2), c.template image<float>(3),
                                                c.template image<std::uint8_t>(4)});
    }),
    .global_support = true,
    .work = [](const Shape& s) { return Work{.bytes = 2 * 170 * s.pixels()}; }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::propagation
