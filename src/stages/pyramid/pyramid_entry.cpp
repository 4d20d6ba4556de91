#include "stages/pyramid/pyramid_entry.hpp"
#include "stages/window_sad/window_sad_entry.hpp"

namespace stereopsis::pyramid {
namespace {

constexpr auto refine = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

Ports no_ports(const StageParameters&, const PairInfo&) { return {}; }

const StageDescriptor entry{.slot = Slot::levels,
                            .name = "pyramid",
                            .title = "pyramid",
                            .parameters = Parameters{},
                            .ports = no_ports,
                            .check_pipeline = check_pipeline,
                            .lowering = &lowering,
                            .region_rule = &region_rule};

// A level, around what the coarser one found.
const StageDescriptor level{
    .slot = Slot::internal,
    .name = "pyramid_level",
    .title = "pyramid",
    .parameters = LevelParameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{
              in("colours", both),          if_there("mask", both),         in("guess"), out("disparity", Element::f32),
              out("validity", Element::u8), out("confidence", Element::f32)};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const auto& p = c.template as<LevelParameters>();
      const typename C::template Of<Input> input{c.template image<const std::uint32_t>(0),
                                                 c.template image<const std::uint32_t>(1),
                                                 c.context.from_right ? 1 : -1,
                                                 c.template image<const std::uint8_t>(2),
                                                 c.template image<const std::uint8_t>(3),
                                                 c.context.range,
                                                 c.template image<const float>(4)};
      const typename C::template Of<Output> output{c.template image<float>(5), c.template image<std::uint8_t>(6),
                                                   c.template image<float>(7)};
      refine(c, p.pyramid, p.window, p.select, input, output);
    }),
    .plan =
        [](StageParameters& p, const PlanFacts& facts) {
          p.as<LevelParameters>().window = window_sad::parameters_of(facts.cost).window();
        }};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(level);
}

}  // namespace stereopsis::pyramid
