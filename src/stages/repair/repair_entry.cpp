#include "graph/descriptor.hpp"
#include "stages/repair/repair.hpp"

namespace stereopsis::repair {
namespace {

constexpr auto repair_map = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "repair",
    .title = "repair",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("disparity"), out("disparity", Element::f32), change("confidence"),
                       scratch("between", Element::f32), change("validity")};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      repair_map(c, c.template as<Parameters>(),
                 typename C::template Of<MapsOf>{c.template image<float>(0), c.template image<float>(1),
                                                 c.template image<float>(2), c.template image<float>(3),
                                                 c.template image<std::uint8_t>(4)});
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .work = [](const Shape& s) { return Work{.bytes = 3 * 18 * s.pixels()}; }};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::repair
