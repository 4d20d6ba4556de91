#include "stages/pyramid/pyramid_entry.hpp"
#include "stages/shared/window_entry.hpp"

namespace stereopsis::pyramid {
namespace {

constexpr auto refine = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::levels,
                            .name = "pyramid",
                            .title = "pyramid",
                            .parameters = Parameters{},
                            .check_pipeline = check_pipeline,
                            .facets = {&lowering, &region_rule}};

// Matches a level around the disparities of the coarser level.
const StageDescriptor level{
    .slot = Slot::internal,
    .name = "pyramid_level",
    .title = "pyramid",
    .parameters = LevelParameters{},
    .ports = {in("colours", both), if_there("mask", both), in("guess"), out("disparity", Element::f32),
              out("validity", Element::u8), out("confidence", Element::f32)},
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<LevelParameters>();
      const auto input = c.template of<Input>(c("colours"), c("colours", Side::other), c.context.from_right ? 1 : -1,
                                              c("mask"), c("mask", Side::other), c.context.range, c("guess"));
      const auto output = c.template of<Output>(c("disparity"), c("validity"), c("confidence"));
      refine(c, p.pyramid, p.window, p.select, input, output);
    }),
    .plan = [](LevelParameters& p, const PlanFacts& facts) {
      p.window = window_sad::parameters_of(facts.cost).window();
    }};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(level);
}

}  // namespace stereopsis::pyramid
