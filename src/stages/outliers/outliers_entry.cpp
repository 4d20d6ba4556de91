#include "graph/descriptor.hpp"
#include "stages/outliers/outliers.hpp"

namespace stereopsis::outliers {
namespace {

constexpr auto find = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "outliers",
    .title = "outliers by kind",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("right"), change("disparity"), change("validity"), out("kinds", Element::u8)};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const typename C::template Of<MapOf> map{c.template image<float>(1), c.template image<std::uint8_t>(2),
                                               c.template image<std::uint8_t>(3)};
      find(c, c.template as<Parameters>(), c.template image<const float>(0), map);
    }),
    .global_support = true,
    .examples = {{}, {"threshold=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::outliers
