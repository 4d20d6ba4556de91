#include "graph/pipeline.hpp"
#include "graph/registry.hpp"
#include "stages/cross_aggregation/cross_aggregation.hpp"

namespace stereopsis::cross_aggregation {
namespace {

constexpr auto aggregate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "cross_aggregation",
    .title = "cross-based aggregation",
    .parameters = Parameters{},
    .ports =
        [](const Parameters& p) {
          return Ports{in("cross", p.support == Support::both ? Side::both : Side::reference),
                       change_volume("costs", {Element::u8})};
        },
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      const auto arms = c.template of<ArmsOf>(
          c("cross"), c("cross", p.support == Support::both ? Side::other : Side::reference), p.longest_arm);
      aggregate(c, p, arms, c.context.range.min, c("costs"));
    }),
    .required_input = required_input,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size(), s.disparities(), s.target.threads); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size(), s.disparities()); }},
    .work = [](const Shape& s) { return Work{.bytes = 2.0 * s.as<Parameters>().iterations * s.cells()}; },
    .plan =
        [](Parameters& p, const PlanFacts& facts) {
          const StageDescriptor& cross = registry().at("cross");  // the stage reads as many pixels as the arms are long
          p.longest_arm = -cross.required_input(facts.pipeline.parameters_of(cross), {0, 0, 1, 1}).x;
        },
    .facets = {RightCosts{}},
    .examples = {{}, {"iterations=1"}, {"iterations=3", "support=left"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::cross_aggregation
